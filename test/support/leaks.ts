import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';

const POLL_MS = 20;

/** How long what was closed may take to be gone. */
const GRACE_MS = 2000;

/** Kinds that come and go with any work and are never left behind by ours. */
const TRANSIENT = new Set([
  'Immediate',
  'FSReqCallback',
  'FSReqPromise',
  'GetAddrInfoReqWrap',
  'CloseReq',
  'TTYWrap',
]);

/**
 * Remembers what keeps this process alive now: sockets, servers and child processes. What is there beyond that at the
 * end is a leak, and so is any timer, and any worker begun since. Timers and sockets that were `unref`ed do not count.
 *
 * A test file takes it in `beforeAll`, before it starts anything, and hands it to `afterAll`:
 * ```ts
 * let assertNoLeaks: () => Promise<void>;
 * beforeAll(() => {
 *   assertNoLeaks = watchLeaks();
 * });
 * afterAll(() => assertNoLeaks());
 * ```
 *
 * @returns Rejects with the kinds that are there beyond what was there before, once a short grace is over.
 */
export function detectLeaks({ graceMs = GRACE_MS } = {}): () => Promise<void> {
  const before = countResources();
  const workers = new Set<Worker>();
  const onWorker = (message: unknown) => {
    const { worker } = message as { worker: Worker };
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
  };
  subscribe('worker_threads', onWorker);
  return async () => {
    unsubscribe('worker_threads', onWorker);
    const giveUpAtMs = performance.now() + graceMs;
    let left = leftBehind(before, workers.size);
    while (left.length > 0 && performance.now() < giveUpAtMs) {
      await sleep(POLL_MS);
      left = leftBehind(before, workers.size);
    }
    if (left.length > 0) throw new Error(`Left behind: ${left.join(', ')}`);
  };
}

function leftBehind(before: ReadonlyMap<string, number>, workerCount: number): string[] {
  const counts = countResources().set('Worker', workerCount);
  return [...counts].flatMap(([kind, count]) => {
    // A timer that was there before belongs to the test runner and is soon gone; it must not excuse one of ours.
    const more = count - (kind === 'Timeout' ? 0 : (before.get(kind) ?? 0));
    return more > 0 ? [`${more} ${kind}`] : [];
  });
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!TRANSIENT.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
