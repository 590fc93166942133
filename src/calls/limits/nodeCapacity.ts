/** The number of calls that one core supports with any codec. */
const CALLS_PER_THREAD = 200;
/** Each call uses a port for RTP and one for RTCP. */
export const PORTS_PER_CALL = 2;

/** The calls that a node can run with this many media threads and RTP ports. */
export function callCapacity(threads: number, ports: number): number {
  return Math.min(Math.floor(ports / PORTS_PER_CALL), threads * CALLS_PER_THREAD);
}

/** The calls that this node can run at a time without affecting each other's audio. */
export class NodeCapacity {
  readonly limit: number;
  readonly #calls = new Set<string>();
  #onRoom = () => {};

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
    const wasFull = this.#calls.size >= this.limit;
    if (this.#calls.delete(callId) && wasFull) this.#onRoom();
  }

  /** Sets what is called when the node is full no longer. */
  onRoom(listener: () => void): void {
    this.#onRoom = listener;
  }
}
