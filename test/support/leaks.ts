import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';

const POLL_MS = 20;

/** How long a closed resource may take to disappear. */
const GRACE_MS = 2000;

/** Short-lived kinds that accompany any work. */
const TRANSIENT = new Set([
  'Immediate',
  'FSReqCallback',
  'FSReqPromise',
  // Node keeps one for the next file that is read as a Blob.
  'FileHandleReadWrap',
  'GetAddrInfoReqWrap',
  'CloseReq',
  'TTYWrap',
]);

/**
 * Records the resources that keep this process alive: sockets, servers and child processes. Any further one at the
 * end is a leak, and so is any timer and any worker started since. Timers and sockets with `unref` do not count.
 *
 * A test file calls it in `beforeAll`, before it opens anything, and the result in `afterAll`:
 * ```ts
 * let assertNoLeaks: () => Promise<void>;
 * beforeAll(() => {
 *   assertNoLeaks = detectLeaks();
 * });
 * afterAll(() => assertNoLeaks());
 * ```
 *
 * @returns Rejects with the leaked kinds after `graceMs`.
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
    // An earlier timer belongs to the test runner and ends soon; it must not hide one of the tests.
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
