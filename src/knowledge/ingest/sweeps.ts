import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Documents } from '../intake/documents.ts';
import type { DatasetStore } from '../stores.ts';

const INTERVAL_MS = 60_000;
/** Longer than an ingestion takes between two updates of its dataset. */
const STALLED_MS = 2 * 60_000;
/** The first sweep is soon, and covers everything that a process that died left behind. */
const FIRST_DELAY_MS = 2_000;
const BATCH = 200;

export interface SweepDeps {
  readonly datasets: Pick<DatasetStore, 'listUnfinished'>;
  readonly documents: Pick<Documents, 'enqueue' | 'removeFiles'>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Queues datasets that lost their job, and removes files whose dataset was removed. Several nodes may run it: a dataset that
 * has a job keeps it.
 *
 * @returns Stops the sweeps and waits for a running one; idempotent.
 */
export function startIngestionSweeps({
  datasets,
  documents,
  clock,
  onError,
}: SweepDeps): () => Promise<void> {
  let stalledMs = 0;
  const sweep = async () => {
    const before = new Date(clock.now() - stalledMs).toISOString();
    stalledMs = STALLED_MS;
    for (const { datasetId, projectId } of await datasets.listUnfinished(before, BATCH)) {
      await documents.enqueue(datasetId, projectId);
    }
    await documents.removeFiles();
  };
  const onSweepError = (error: unknown) => onError(error, 'ingestion sweep failed, retrying');
  return repeat(clock, INTERVAL_MS, sweep, onSweepError, FIRST_DELAY_MS);
}
