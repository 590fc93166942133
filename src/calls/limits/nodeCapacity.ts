/** The calls that this node can run at a time without affecting each other's audio. */
export class NodeCapacity {
  readonly limit: number;
  readonly #calls = new Set<string>();

  constructor(limit: number) {
    this.limit = limit;
  }

  get inUse(): number {
    return this.#calls.size;
  }

  /** Takes a slot; a call that has one keeps it. @returns False when none is free. */
  acquire(callId: string): boolean {
    if (!this.#calls.has(callId) && this.#calls.size >= this.limit) return false;
    this.#calls.add(callId);
    return true;
  }

  has(callId: string): boolean {
    return this.#calls.has(callId);
  }

  /** Idempotent. */
  release(callId: string): void {
    this.#calls.delete(callId);
  }
}
