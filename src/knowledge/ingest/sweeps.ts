import type { Clock } from '../../base/clock.ts';
import { repeat } from '../../base/repeat.ts';
import type { Documents } from '../intake/documents.ts';
import type { DatasetStore } from '../stores.ts';

const EVERY_MS = 60_000;
/** Longer than a document takes between two signs of life. */
const UNTOUCHED_MS = 2 * 60_000;
/** The first time soon, and for all of it: what a process that died left behind. */
const FIRST_MS = 2_000;
const BATCH = 200;

export interface SweepDeps {
  readonly datasets: Pick<DatasetStore, 'listUnfinished'>;
  readonly documents: Pick<Documents, 'begin' | 'removeFiles'>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Queues again what was to be made ready and lost its job, and removes files that were left. Harmless when several
 * nodes do it: a dataset that has a job keeps the one it has.
 *
 * @returns A function that stops it, and waits for what it is at; idempotent.
 */
export function startIngestionSweeps({
  datasets,
  documents,
  clock,
  onError,
}: SweepDeps): () => Promise<void> {
  let untouchedMs = 0;
  const sweep = async () => {
    const before = new Date(clock.now() - untouchedMs).toISOString();
    untouchedMs = UNTOUCHED_MS;
    for (const { datasetId, projectId } of await datasets.listUnfinished(before, BATCH)) {
      await documents.begin(datasetId, projectId);
    }
    await documents.removeFiles();
  };
  const again = (error: unknown) =>
    onError(error, 'unfinished datasets were not looked for; it is tried again');
  return repeat(clock, EVERY_MS, sweep, again, FIRST_MS);
}
