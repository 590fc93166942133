export interface ConcurrencyLimit {
  /** Works that run at the same time. */
  readonly running: number;
  /** Works that wait, in the order in which they came. */
  readonly waiting: number;
  /** Makes the error that a further one is rejected with. */
  readonly full: () => Error;
}

/** Lets some works run at the same time; the others wait their turn. */
export class Turns {
  readonly #limit: ConcurrencyLimit;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: ConcurrencyLimit) {
    this.#limit = limit;
  }

  /** Calls `start` at once, or when those before it have left. @throws What the limit says, when too many wait. */
  enter(start: () => void): void {
    if (this.#running < this.#limit.running) {
      this.#running += 1;
      start();
    } else if (this.#waiting.length < this.#limit.waiting) this.#waiting.push(start);
    else throw this.#limit.full();
  }

  /** A work that was started has finished. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}

/** @returns Runs a work, at once or when those before it have finished. */
export function limitConcurrency(limit: ConcurrencyLimit) {
  const turns = new Turns(limit);
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await new Promise<void>((start) => turns.enter(start));
    try {
      return await work();
    } finally {
      turns.leave();
    }
  };
}
