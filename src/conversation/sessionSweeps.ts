import type { Clock, Timer } from '../base/clock.ts';
import type { Conversations } from './conversations.ts';
import type { HistoryStore, ReleaseStore, SessionStore } from './stores.ts';
import type { WebhookDeliveryStore } from './webhookStores.ts';

/** An idle session outlives its time by no more than this. */
const IDLE_SWEEP_MS = 15_000;
/** What was not kept any longer is gone within this time. */
const PURGE_MS = 3_600_000;
/** So many sessions are asked for at a time. */
const IDLE_BATCH = 100;

export interface SessionSweepsDeps {
  readonly sessions: Pick<SessionStore, 'idle'>;
  readonly history: Pick<HistoryStore, 'purge'>;
  readonly deliveries: Pick<WebhookDeliveryStore, 'purge'>;
  readonly releases: Pick<ReleaseStore, 'removeUnused'>;
  readonly endIdle: Conversations['endIdle'];
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
  const sweeps = [
    repeat(() => endIdle(deps, isStopped), IDLE_SWEEP_MS, 'ending idle sessions'),
    repeat(() => purge(deps), PURGE_MS, 'removing what is kept no longer'),
  ];

  function repeat(sweep: () => Promise<void>, everyMs: number, what: string) {
    let running = Promise.resolve();
    const begin = () => {
      running = sweep()
        .catch((error: unknown) => onError(error, `${what} failed; it is tried again`))
        .then(() => {
          if (!stopped) timer = clock.setTimer(begin, everyMs);
        });
    };
    let timer: Timer = clock.setTimer(begin, everyMs);
    return async () => {
      timer.cancel();
      await running;
    };
  }

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
