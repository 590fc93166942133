import { isUnavailable } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';

/** How long an unavailable lock is not asked for again. */
const RETRY_AFTER_MS = 5_000;

export interface HeldLock {
  /** Aborted when the lock is lost. */
  readonly lost: AbortSignal;
  /** Whether another holder released the lock a moment before, so that a session read meanwhile may be stale. */
  readonly wasContended: boolean;
  /** Whether this node also held the lock the last time. Only reported with `reportsLastHolder`. */
  readonly wasOwn?: boolean;
  /** Idempotent. */
  release(): Promise<void>;
}

/** Lets one turn of a session run at a time across all nodes. */
export interface SessionLock {
  /**
   * @param reportsLastHolder - Report in `wasOwn` whether another node has held the lock since this one did.
   * @throws {CallwayError} 409 `session_busy` after the longest wait; 503 when the lock service is unavailable.
   */
  acquire(projectId: string, sessionId: string, reportsLastHolder?: boolean): Promise<HeldLock>;
}

/**
 * The lock for sessions on an audio stream of this node. A caller who waits hears silence, so a turn runs without the
 * lock while it is unavailable, and keeps running when it is lost. If two turns run at once, the session's turn count
 * rejects one of them.
 */
export function bestEffortLock(lock: SessionLock, clock: Clock): SessionLock {
  let retryAtMs = Number.NEGATIVE_INFINITY;
  return {
    async acquire(projectId, sessionId) {
      if (clock.monotonicMs() < retryAtMs) return withoutLock();
      try {
        const { wasContended, wasOwn = false, release } = await lock.acquire(projectId, sessionId, true);
        // The answer does not wait for the release.
        return { ...withoutLock(), wasContended, wasOwn, release: async () => void release() };
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        retryAtMs = clock.monotonicMs() + RETRY_AFTER_MS;
        return withoutLock();
      }
    },
  };
}

function withoutLock(): HeldLock {
  return { lost: new AbortController().signal, wasContended: true, release: async () => undefined };
}
