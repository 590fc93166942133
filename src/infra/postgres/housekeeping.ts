import type { Clock } from '../../base/clock.ts';
import { repeat } from '../../base/repeat.ts';

const EVERY_MILLISECONDS = 10 * 60_000;
const IDEMPOTENCY_HOURS = 24;

interface Swept {
  readonly idempotency: { removeOlderThan(time: Date): Promise<void> };
}

/**
 * Removes what has outlived its time, now and then. Harmless when several nodes do it.
 *
 * @returns A function that stops it, and waits for what it is at; idempotent.
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
    (error) => logger.warn({ err: error }, 'housekeeping failed; it is tried again'),
  );
}
