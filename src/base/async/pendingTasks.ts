/** Tracks promises, so that a shutdown can wait for them. */
export interface PendingTasks {
  /** @returns The same promise. Its rejection is the caller's to handle. */
  add<Result>(work: Promise<Result>): Promise<Result>;
  /** Resolves when no task is pending, including tasks that were added meanwhile. */
  settled(): Promise<void>;
}

export function createPendingTasks(): PendingTasks {
  const all = new Set<Promise<unknown>>();
  return {
    add(work) {
      all.add(work);
      const forget = () => void all.delete(work);
      work.then(forget, forget);
      return work;
    },
    async settled() {
      while (all.size > 0) await Promise.allSettled(all);
    },
  };
}
