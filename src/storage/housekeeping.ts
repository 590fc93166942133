import type { Clock } from '../base/clock.ts';

const EVERY_MILLISECONDS = 10 * 60_000;
const IDEMPOTENCY_HOURS = 24;

interface Swept {
  readonly idempotency: { removeOlderThan(time: Date): Promise<void> };
}

/**
 * Removes what has outlived its time, now and then. Harmless when several nodes do it.
 *
 * @returns A function that stops it.
 */
export function startHousekeeping(
  stores: Swept,
  clock: Clock,
  logger: { warn(fields: object, message: string): void },
): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  const sweep = async () => {
    const oldest = new Date(clock.now() - IDEMPOTENCY_HOURS * 3_600_000);
    await stores.idempotency.removeOlderThan(oldest).catch((error: unknown) => {
      logger.warn({ err: error }, 'housekeeping failed; it is tried again');
    });
  };
  const tick = () => {
    running = sweep().then(() => {
      if (!stopped) timer = clock.setTimer(tick, EVERY_MILLISECONDS);
    });
  };
  let timer = clock.setTimer(tick, EVERY_MILLISECONDS);
  return async () => {
    stopped = true;
    timer.cancel();
    await running;
  };
}
