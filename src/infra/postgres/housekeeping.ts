import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/clock.ts';

const EVERY_MILLISECONDS = 10 * 60_000;
const IDEMPOTENCY_HOURS = 24;

const HOUR_MS = 3_600_000;

interface Removable {
  removeOlderThan(time: Date): Promise<void>;
}

interface Swept {
  readonly idempotency: Removable;
  readonly audit: Removable;
}

/**
 * Removes expired rows at an interval. Several nodes may run it.
 *
 * @returns Stops it and waits for the running removal; idempotent.
 */
export function startHousekeeping(
  stores: Swept,
  auditRetentionDays: number,
  clock: Clock,
  logger: { warn(fields: object, message: string): void },
): () => Promise<void> {
  return repeat(
    clock,
    EVERY_MILLISECONDS,
    async () => {
      await stores.idempotency.removeOlderThan(new Date(clock.now() - IDEMPOTENCY_HOURS * HOUR_MS));
      await stores.audit.removeOlderThan(new Date(clock.now() - auditRetentionDays * 24 * HOUR_MS));
    },
    (error) => logger.warn({ err: error }, 'housekeeping failed, will be retried'),
  );
}
