/** How many calls this node carries at a time, so that more of them never make the others worse. */
export interface NodeCapacity {
  /** Takes a place for a call; one that has a place keeps it. @returns False where every place is taken. */
  acquire(callId: string): boolean;
  has(callId: string): boolean;
  /** Harmless for a call without a place. */
  release(callId: string): void;
  readonly inUse: number;
  readonly limit: number;
}

export function createNodeCapacity(limit: number): NodeCapacity {
  const calls = new Set<string>();
  return {
    acquire(callId) {
      if (!calls.has(callId) && calls.size >= limit) return false;
      calls.add(callId);
      return true;
    },
    has: (callId) => calls.has(callId),
    release(callId) {
      calls.delete(callId);
    },
    get inUse() {
      return calls.size;
    },
    limit,
  };
}
