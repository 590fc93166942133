import type { Clock, Timer } from '../values/clock.ts';

/**
 * Runs a task repeatedly, `everyMs` after the end of the previous run.
 *
 * @param onError - Called with the error of a failed run; the next run follows as usual.
 * @param firstMs - Delay of the first run; default `everyMs`.
 * @returns Stops it and waits for the running task; idempotent.
 */
export function repeat(
  clock: Clock,
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
  firstMs = everyMs,
): () => Promise<void> {
  let stopped = false;
  let running = Promise.resolve();
  const begin = () => {
    running = work()
      .catch(onError)
      .then(() => {
        if (!stopped) timer = clock.setTimer(begin, everyMs);
      });
  };
  let timer: Timer = clock.setTimer(begin, firstMs);
  return async () => {
    stopped = true;
    timer.cancel();
    await running;
  };
}
