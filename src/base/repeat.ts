import type { Clock, Timer } from './clock.ts';

/**
 * Does something again and again, each time so long after the last time has ended.
 *
 * @param everyMs - Also how long it is to the first time, unless `firstMs` says otherwise.
 * @param onError - Told when it fails; it is done again all the same.
 * @returns A function that stops it, and waits for what it is at; idempotent.
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
