import type { Clock } from './clock.ts';

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 15_000;

/**
 * Does what must be done until it is, for as long as the process lives; each time it waits longer for the next.
 *
 * @param onError - Told of each failure; must not throw.
 */
export async function retryForever<Result>(
  clock: Pick<Clock, 'setTimer'>,
  work: () => Promise<Result>,
  onError: (error: unknown) => void,
): Promise<Result> {
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      onError(error);
      await new Promise<void>((resolve) => clock.setTimer(resolve, waitMs));
    }
  }
}
