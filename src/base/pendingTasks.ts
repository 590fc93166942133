/** Work that was begun and is not over, for whoever must not go before it is. */
export interface PendingTasks {
  /** @returns The work itself, whose failure is its owner's to see to. */
  add<Result>(work: Promise<Result>): Promise<Result>;
  /** Resolves when nothing is under way any more, what was added meanwhile included. */
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
