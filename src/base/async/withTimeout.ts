import type { Clock } from '../values/clock.ts';

/** Resolves when `done` has settled, or after `timeoutMs`, whichever comes first. Never rejects. */
export function withTimeout(clock: Clock, done: Promise<unknown>, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(resolve, timeoutMs);
    const finish = () => {
      timer.cancel();
      resolve();
    };
    done.then(finish, finish);
  });
}
