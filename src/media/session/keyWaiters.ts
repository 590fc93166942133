import { CallwayError } from '../../base/errors.ts';

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** Those who wait until the keys that they sent are out. */
export class KeyWaiters {
  #waiters: Waiter[] = [];

  untilOut(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
  }

  allOut(): void {
    if (this.#waiters.length === 0) return;
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  /** @param why - What came between. */
  interrupt(why: string): void {
    const error = new CallwayError('conflict', 'dtmf_interrupted', `not all keys were sent: ${why}`);
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }
}
