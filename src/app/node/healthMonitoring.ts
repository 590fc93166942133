import type { Logger } from 'pino';
import type { HealthMonitorOptions } from '../../base/async/healthMonitor.ts';
import type { Clock } from '../../base/clock.ts';

/** Logs once when a dependency goes down and once when it is back. */
export function logHealthChanges(part: string, logger: Logger, clock: Clock): HealthMonitorOptions {
  return {
    clock,
    onChange(change) {
      if (change.isDown) {
        const reason = reasonOf(change.reason);
        logger.error({ part, reason }, 'dependency unavailable; requests that need it are rejected');
      } else {
        logger.error({ part, downMs: change.downMs }, 'dependency available again');
      }
    },
  };
}

/** The driver's message: ours says only that the dependency is unavailable. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
