import { setTimeout as sleep } from 'node:timers/promises';

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
 * Remembers what keeps this process alive now: sockets, servers, timers, workers and child processes. Timers and
 * sockets that were `unref`ed do not count.
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
export function watchLeaks(): () => Promise<void> {
  const before = countResources();
  return async () => {
    const giveUpAtMs = performance.now() + GRACE_MS;
    let extra = beyond(before);
    while (extra.length > 0 && performance.now() < giveUpAtMs) {
      await sleep(POLL_MS);
      extra = beyond(before);
    }
    if (extra.length > 0) throw new Error(`Left behind: ${extra.join(', ')}`);
  };
}

function beyond(before: ReadonlyMap<string, number>): string[] {
  return [...countResources()].flatMap(([kind, count]) => {
    const more = count - (before.get(kind) ?? 0);
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
