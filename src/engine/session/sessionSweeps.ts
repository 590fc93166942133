import { readPages } from '../../base/async/readPages.ts';
import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { ConversationEngine } from '../conversationEngine.ts';
import type { IdleSession } from './session.ts';
import type { SessionStore } from './sessionStore.ts';

/** An idle session ends at most this much late. */
const IDLE_SWEEP_MS = 15_000;
const IDLE_BATCH = 100;

export interface SessionSweepsDeps {
  readonly sessions: SessionStore;
  readonly endIdle: ConversationEngine['endIdle'];
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Ends idle sessions. All nodes may run it at the same time.
 *
 * @returns Stops the sweeps and waits for a running one; idempotent.
 */
export function startSessionSweeps(deps: SessionSweepsDeps): () => Promise<void> {
  const { clock, onError } = deps;
  let stopped = false;
  const stop = repeat(
    clock,
    IDLE_SWEEP_MS,
    () => endIdle(deps, () => stopped),
    (error) => onError(error, 'sweep of idle sessions failed, will be retried'),
  );
  return () => {
    stopped = true;
    return stop();
  };
}

/** Continues with the others after a failure. */
async function endIdle(
  { sessions, endIdle: endOne, clock, onError }: SessionSweepsDeps,
  isStopped: () => boolean,
): Promise<void> {
  const read = (limit: number, after?: IdleSession) => sessions.idle(new Date(clock.now()), limit, after);
  const failed = (error: unknown) => onError(error, 'idle session not ended, will be retried');
  for await (const idle of readPages(IDLE_BATCH, read))
    for (const found of idle) {
      if (isStopped()) return;
      await endOne(found).catch(failed);
    }
}
