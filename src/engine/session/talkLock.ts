import type { Clock } from '../../base/clock.ts';
import { isUnavailable } from '../../base/errors.ts';
import type { HeldLock, SessionLock } from './sessionStore.ts';

/** What was away a moment ago is not waited for again. */
const AWAY_MS = 5_000;

/**
 * The lock as talks take it, which have their session to themselves: they ask for it, and go on without it while it is
 * away, since a caller who waits for an answer hears silence. Should two take a turn at once all the same, the turn
 * count of the session keeps one of them.
 */
export function lockOfTalks(lock: SessionLock, clock: Clock): SessionLock {
  let awayUntilMs = Number.NEGATIVE_INFINITY;
  const acquire = async (projectId: string, sessionId: string): Promise<HeldLock> => {
    if (clock.monotonicMs() < awayUntilMs) return withoutLock();
    try {
      return untilItsEnd(await lock.acquire(projectId, sessionId));
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      awayUntilMs = clock.monotonicMs() + AWAY_MS;
      return withoutLock();
    }
  };
  return {
    acquire,
    async run(projectId, sessionId, work) {
      const held = await acquire(projectId, sessionId);
      try {
        return await work(held);
      } finally {
        await held.release();
      }
    },
  };
}

/** Renewing it fails while it is away; the turn is taken to its end. Nor does a talk wait until it is given back. */
function untilItsEnd({ isNewest, isLeft, leave, release }: HeldLock): HeldLock {
  return {
    lost: new AbortController().signal,
    isNewest,
    isLeft,
    leave,
    async release() {
      void release();
    },
  };
}

/** Nothing is known of who came before, and nobody is told. */
function withoutLock(): HeldLock {
  return {
    lost: new AbortController().signal,
    isNewest: () => false,
    isLeft: () => false,
    leave: () => undefined,
    release: async () => undefined,
  };
}
