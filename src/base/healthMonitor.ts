import type { Clock } from './clock.ts';
import { measureEventLoopDelay } from './eventLoopDelay.ts';
import { repeat } from './repeat.ts';
import { withTimeout } from './withTimeout.ts';

/** How often it is asked whether it is there. */
export const PROBE_INTERVAL_MS = 500;
/** Work that begins while it is away waits so long for the news that it is back. */
export const RECOVERY_WAIT_MS = 200;

/** So many answers in a row are missed by a part that is away. */
const MISSES = 2;
/** Who is late himself all the time believes his misses from then on. */
const MOST_ASKS = 4;
/** A miss tells nothing where the asker himself was late for more than this part of its time. */
const TOLERATED_LATENESS = 0.25;

/** What is told of a part's comings and goings. */
export type HealthChange =
  | { readonly isAway: true; readonly reason: unknown }
  | { readonly isAway: false; readonly awayMs: number };

/** Who looks after it. */
export interface HealthMonitorOptions {
  readonly clock: Clock;
  readonly onChange: (change: HealthChange) => void;
}

export interface HealthMonitorDeps extends HealthMonitorOptions {
  /** Rejects when no answer comes; bounds its own wait. */
  readonly probe: () => Promise<unknown>;
  /** What work gets while it is away. */
  readonly toError: (reason: unknown) => Error;
}

/** Whether a part that work stands on is there. */
export interface HealthMonitor {
  isDown(): boolean;
  /**
   * Does work that waits for it. A silent network may keep an answer for many minutes; this gives the answer up as soon
   * as the part is known to be away.
   *
   * @param provesPresence - Whether the work's end is an answer of the part; true by default.
   * @throws What `refusal` makes, for work that begins or waits while it is away.
   */
  hold<Result>(work: () => Promise<Result>, provesPresence?: boolean): Promise<Result>;
  /** Asks now; who asks at the same time shares the answer. */
  check(): Promise<void>;
  /** Idempotent; waits for what is being asked. */
  close(): Promise<void>;
}

/**
 * Watches a part by asking it again and again.
 *
 * ```
 *           asked twice, no answer, and no other work had one
 *   there ────────────────────────────────────────────────────▶ away
 *     ▲                       one answer                          │
 *     └───────────────────────────────────────────────────────────┘
 * ```
 *
 * Twice, because a process that was busy itself takes an answer that it has not read yet for silence; and a miss in whose
 * time it was late itself does not count at all.
 */
export function monitorHealth({
  clock,
  probe: ask,
  toError: refusal,
  onChange,
}: HealthMonitorDeps): HealthMonitor {
  const held = new Set<(error: Error) => void>();
  let answers = 0;
  let gone: { readonly reason: unknown; readonly sinceMs: number } | undefined;
  let looking: Promise<void> | undefined;

  const leave = (reason: unknown) => {
    gone = { reason, sinceMs: clock.monotonicMs() };
    onChange({ isAway: true, reason });
    for (const giveUp of held) giveUp(refusal(reason));
    held.clear();
  };
  const comeBack = () => {
    if (!gone) return;
    const awayMs = Math.round(clock.monotonicMs() - gone.sinceMs);
    gone = undefined;
    onChange({ isAway: false, awayMs });
  };
  const lookOnce = async () => {
    const before = answers;
    try {
      if (gone) await ask();
      else await askUntilSure(clock, ask);
      comeBack();
    } catch (error) {
      if (!gone && answers === before) leave(error);
    }
  };
  const look = () => {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  // What fails here is what is reported to `onChange`.
  const stop = repeat(clock, PROBE_INTERVAL_MS, look, () => undefined);

  return {
    isDown: () => gone !== undefined,
    check: look,
    async hold(work, provesPresence = true) {
      if (gone) await withTimeout(clock, look(), RECOVERY_WAIT_MS);
      if (gone) throw refusal(gone.reason);
      return await new Promise((resolve, reject) => {
        held.add(reject);
        work().then(
          (result) => {
            if (provesPresence) answers += 1;
            held.delete(reject);
            resolve(result);
          },
          (error: unknown) => {
            held.delete(reject);
            reject(error);
          },
        );
      });
    },
    async close() {
      await stop();
      await looking;
    },
  };
}

/** @throws What the last ask did, once enough of them say that the part is away. */
async function askUntilSure(clock: Clock, ask: () => Promise<unknown>): Promise<void> {
  let misses = 0;
  for (let asked = 1; ; asked += 1) {
    const beganMs = clock.monotonicMs();
    const lateness = measureEventLoopDelay(clock);
    try {
      await ask();
      return;
    } catch (error) {
      const isOwnFault = lateness.delayMs() > TOLERATED_LATENESS * (clock.monotonicMs() - beganMs);
      if (!isOwnFault || asked >= MOST_ASKS) misses += 1;
      if (misses === MISSES) throw error;
    } finally {
      lateness.stop();
    }
  }
}
