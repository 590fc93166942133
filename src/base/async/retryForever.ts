import type { Clock } from '../values/clock.ts';
import { sleep } from './sleep.ts';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;

/**
 * Repeats `work` with growing delays until it succeeds.
 *
 * @param onError - Called with each failure; must not throw.
 */
export async function retryForever<Result>(
  clock: Clock,
  work: () => Promise<Result>,
  onError: (error: unknown) => void,
): Promise<Result> {
  for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, MAX_RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      onError(error);
      await sleep(clock, delayMs);
    }
  }
}
