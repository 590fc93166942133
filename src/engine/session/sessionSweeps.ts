import type { Clock } from '../../base/clock.ts';
import { repeat } from '../../base/repeat.ts';
import type { ConversationEngine } from '../conversationEngine.ts';
import type { HistoryStore } from '../history/historyStore.ts';
import type { ReleaseStore } from './releases.ts';
import type { SessionStore } from './sessionStore.ts';

/** An idle session ends at most this much late. */
const IDLE_SWEEP_MS = 15_000;
/** Expired data is deleted within this time. */
const PURGE_MS = 3_600_000;
const IDLE_BATCH = 100;

export interface SessionSweepsDeps {
  readonly sessions: Pick<SessionStore, 'idle'>;
  readonly history: Pick<HistoryStore, 'purge'>;
  readonly deliveries: { purge(now: Date): Promise<number> };
  readonly releases: Pick<ReleaseStore, 'removeUnused'>;
  readonly endIdle: ConversationEngine['endIdle'];
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Ends sessions that nobody talks in any more, and removes what their projects do not keep. Every node may do it:
 * of several that find the same thing one does it, and the others find it done.
 *
 * @returns A function that stops it, and waits for what it is at; idempotent.
 */
export function startSessionSweeps(deps: SessionSweepsDeps): () => Promise<void> {
  const { clock, onError } = deps;
  let stopped = false;
  const isStopped = () => stopped;
  const again = (what: string) => (error: unknown) => onError(error, `${what} failed; it is tried again`);
  const sweeps = [
    repeat(clock, IDLE_SWEEP_MS, () => endIdle(deps, isStopped), again('ending idle sessions')),
    repeat(clock, PURGE_MS, () => purge(deps), again('removing what is kept no longer')),
  ];

  return async () => {
    stopped = true;
    await Promise.all(sweeps.map((stop) => stop()));
  };
}

/** One that cannot be ended holds up none of the others. */
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
        onError(error, 'an idle session was not ended; it is tried again');
      }
    }
    // Fewer than were asked for are all that there are.
    if (idle.length < IDLE_BATCH) return;
  } while (ended > 0);
}

async function purge({ history, deliveries, releases, clock }: SessionSweepsDeps): Promise<void> {
  const now = new Date(clock.now());
  await history.purge(now);
  await deliveries.purge(now);
  await releases.removeUnused();
}
