/** The calls that this node can run at a time without affecting each other's audio. */
export interface NodeCapacity {
  /** Takes a slot; a call that has one keeps it. @returns False when none is free. */
  acquire(callId: string): boolean;
  has(callId: string): boolean;
  /** Idempotent. */
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
