import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { RunStatus } from './testRun.ts';
import type { TestQueue, TestRunStore } from './testRunStore.ts';

const EVERY_MS = 10_000;
const AT_ONCE = 100;

export interface RunSweepsDeps {
  readonly testRuns: Pick<TestRunStore, 'unfinished' | 'finish'>;
  readonly queue: TestQueue;
  readonly clock: Clock;
  readonly onEnded: (runId: string, projectId: string, status: RunStatus) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** Adds the jobs of unfinished runs again: Redis or a node may have lost them. */
export async function sweepRuns({ testRuns, queue, clock, onEnded }: RunSweepsDeps): Promise<void> {
  for (const jobs of await testRuns.unfinished(AT_ONCE)) {
    const status = await testRuns.finish(jobs.runId, new Date(clock.now()).toISOString());
    if (status) onEnded(jobs.runId, jobs.projectId, status);
    else await queue.add(jobs);
  }
}

/** @returns Stops it and waits for the running sweep; idempotent. */
export function startRunSweeps(deps: RunSweepsDeps): () => Promise<void> {
  return repeat(
    deps.clock,
    EVERY_MS,
    () => sweepRuns(deps),
    (error) => deps.onError(error, 'unfinished test runs not queued, retrying'),
  );
}
