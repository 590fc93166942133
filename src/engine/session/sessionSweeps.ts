import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { ConversationEngine } from '../conversationEngine.ts';
import type { SessionStore } from './sessionStore.ts';

/** An idle session ends at most this much late. */
const IDLE_SWEEP_MS = 15_000;
const IDLE_BATCH = 100;

export interface SessionSweepsDeps {
  readonly sessions: Pick<SessionStore, 'idle'>;
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
  let ended = 0;
  do {
    const idle = await sessions.idle(new Date(clock.now()), IDLE_BATCH);
    ended = 0;
    for (const found of idle) {
      if (isStopped()) return;
      try {
        if (await endOne(found)) ended += 1;
      } catch (error) {
        onError(error, 'idle session not ended, will be retried');
      }
    }
    if (idle.length < IDLE_BATCH) return;
  } while (ended > 0);
}
