export interface ConcurrencyLimit {
  /** Works that run at the same time. */
  readonly running: number;
  /** Works that wait, in the order in which they came. */
  readonly waiting: number;
  /** What a further one is rejected with. */
  readonly full: () => Error;
}

/** @returns Runs a work, at once or when those before it have finished. */
export function limitConcurrency(limit: ConcurrencyLimit) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= limit.running) {
      if (waiting.length >= limit.waiting) throw limit.full();
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
