import type { Clock, Timer } from '../values/clock.ts';

/**
 * Runs a task repeatedly, `everyMs` after the end of the previous run.
 *
 * @param work - Its signal is aborted by the stop.
 * @param onError - Called with the error of a failed run; the next run follows as usual.
 * @param firstMs - Delay of the first run; default `everyMs`.
 * @returns Stops it and waits for the running task; idempotent.
 */
export function repeat(
  clock: Clock,
  everyMs: number,
  work: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
  firstMs = everyMs,
): () => Promise<void> {
  const stopping = new AbortController();
  let running = Promise.resolve();
  const begin = () => {
    running = work(stopping.signal)
      .catch(onError)
      .then(() => {
        if (!stopping.signal.aborted) timer = clock.setTimer(begin, everyMs);
      });
  };
  let timer: Timer = clock.setTimer(begin, firstMs);
  return async () => {
    stopping.abort(new Error('stopped'));
    timer.cancel();
    await running;
  };
}
