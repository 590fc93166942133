import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/clock.ts';

const EVERY_MILLISECONDS = 10 * 60_000;
const IDEMPOTENCY_HOURS = 24;

interface Swept {
  readonly idempotency: { removeOlderThan(time: Date): Promise<void> };
}

/**
 * Removes expired rows at an interval. Several nodes may run it.
 *
 * @returns Stops it and waits for the running removal; idempotent.
 */
export function startHousekeeping(
  stores: Swept,
  clock: Clock,
  logger: { warn(fields: object, message: string): void },
): () => Promise<void> {
  return repeat(
    clock,
    EVERY_MILLISECONDS,
    () => stores.idempotency.removeOlderThan(new Date(clock.now() - IDEMPOTENCY_HOURS * 3_600_000)),
    (error) => logger.warn({ err: error }, 'housekeeping failed, will be retried'),
  );
}
