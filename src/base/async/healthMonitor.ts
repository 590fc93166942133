import type { Clock } from '../values/clock.ts';
import { measureEventLoopDelay } from './eventLoopDelay.ts';
import { repeat } from './repeat.ts';
import { withTimeout } from './withTimeout.ts';

/** Interval between two probes. */
export const PROBE_INTERVAL_MS = 500;
/** How long an operation waits for a probe of a failed dependency before it is rejected. */
export const RECOVERY_WAIT_MS = 200;

/** Consecutive failed probes that mark a dependency as down. */
const FAILURES_UNTIL_DOWN = 2;
/** The number of failed probes after which a failure counts even when this process was delayed. */
const MAX_EXCUSED_PROBES = 4;
/** A failed probe does not count when this process was delayed for a larger share of its time. */
const TOLERATED_DELAY_RATIO = 0.25;

export type HealthChange =
  | { readonly isDown: true; readonly reason: unknown }
  | { readonly isDown: false; readonly downMs: number };

/** What the creator of a monitor chooses. */
export interface HealthMonitorOptions {
  readonly clock: Clock;
  readonly onChange: (change: HealthChange) => void;
}

export interface HealthMonitorDeps extends HealthMonitorOptions {
  /** Rejects when there is no answer; has a timeout of its own. */
  readonly probe: () => Promise<unknown>;
  /** Creates the error for operations that are rejected while the dependency is down. */
  readonly toError: (reason: unknown) => Error;
}

/** Knows whether a dependency, such as the database, is reachable. */
export interface HealthMonitor {
  isDown(): boolean;
  /**
   * Runs an operation on the dependency. A broken network may withhold an answer for minutes; this rejects as soon as
   * the dependency is known to be down.
   *
   * @param provesHealth - Whether the operation's success is an answer of the dependency; true by default.
   * @throws The error of `toError`, when the dependency is down at the start or goes down meanwhile.
   */
  guard<Result>(operation: () => Promise<Result>, provesHealth?: boolean): Promise<Result>;
  /** Probes now. Concurrent callers share the probe. */
  check(): Promise<void>;
  /** Idempotent; waits for the running probe. */
  close(): Promise<void>;
}

/**
 * Monitors a dependency by probing it at an interval.
 *
 * ```
 *         two failed probes, and no operation succeeded meanwhile
 *   up ────────────────────────────────────────────────────────────▶ down
 *    ▲                      one successful probe                      │
 *    └────────────────────────────────────────────────────────────────┘
 * ```
 *
 * Two, because a blocked process takes an answer that it has not read yet for a failure. A failure during which this
 * process was delayed does not count.
 */
export function monitorHealth({ clock, probe, toError, onChange }: HealthMonitorDeps): HealthMonitor {
  const rejectPending = new Set<(error: Error) => void>();
  let successes = 0;
  let outage: { readonly reason: unknown; readonly sinceMs: number } | undefined;
  let checking: Promise<void> | undefined;

  const goDown = (reason: unknown) => {
    outage = { reason, sinceMs: clock.monotonicMs() };
    onChange({ isDown: true, reason });
    for (const reject of rejectPending) reject(toError(reason));
    rejectPending.clear();
  };
  const goUp = () => {
    if (!outage) return;
    const downMs = Math.round(clock.monotonicMs() - outage.sinceMs);
    outage = undefined;
    onChange({ isDown: false, downMs });
  };
  const probeOnce = async () => {
    const successesBefore = successes;
    try {
      if (outage) await probe();
      else await probeUntilCertain(clock, probe);
      goUp();
    } catch (error) {
      if (!outage && successes === successesBefore) goDown(error);
    }
  };
  const check = () => {
    checking ??= probeOnce().finally(() => {
      checking = undefined;
    });
    return checking;
  };
  // Failures are reported by `onChange`.
  const stop = repeat(clock, PROBE_INTERVAL_MS, check, () => undefined);

  return {
    isDown: () => outage !== undefined,
    check,
    async guard(operation, provesHealth = true) {
      if (outage) await withTimeout(clock, check(), RECOVERY_WAIT_MS);
      if (outage) throw toError(outage.reason);
      return await new Promise((resolve, reject) => {
        rejectPending.add(reject);
        operation().then(
          (result) => {
            if (provesHealth) successes += 1;
            rejectPending.delete(reject);
            resolve(result);
          },
          (error: unknown) => {
            rejectPending.delete(reject);
            reject(error);
          },
        );
      });
    },
    async close() {
      await stop();
      await checking;
    },
  };
}

/** @throws The error of the last probe, when enough probes have failed. */
async function probeUntilCertain(clock: Clock, probe: () => Promise<unknown>): Promise<void> {
  let failures = 0;
  for (let probes = 1; ; probes += 1) {
    const startedMs = clock.monotonicMs();
    const eventLoopDelay = measureEventLoopDelay(clock);
    try {
      await probe();
      return;
    } catch (error) {
      const toleratedMs = TOLERATED_DELAY_RATIO * (clock.monotonicMs() - startedMs);
      if (eventLoopDelay.delayMs() <= toleratedMs || probes >= MAX_EXCUSED_PROBES) failures += 1;
      if (failures === FAILURES_UNTIL_DOWN) throw error;
    } finally {
      eventLoopDelay.stop();
    }
  }
}
