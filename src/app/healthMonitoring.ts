import type { Logger } from 'pino';

import type { Clock } from '../base/clock.ts';
import type { HealthMonitorOptions } from '../base/healthMonitor.ts';

/** Tells the operator once that a part went away, and once that it is back. */
export function logHealthChanges(part: string, logger: Logger, clock: Clock): HealthMonitorOptions {
  return {
    clock,
    onChange(change) {
      if (change.isAway) {
        const reason = reasonOf(change.reason);
        logger.error({ part, reason }, 'away; what needs it is refused until it is back');
      } else {
        logger.error({ part, awayMs: change.awayMs }, 'back');
      }
    },
  };
}

/** The driver's words rather than ours, which say no more than that it is away. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}
