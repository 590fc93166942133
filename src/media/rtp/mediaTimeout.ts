/** As seen from us: `received` from the peer, `sent` by us. */
export type MediaDirection = 'received' | 'sent';

interface DirectionState {
  lastActiveMs: number;
  isPaused: boolean;
}

/**
 * Watches that media flows, each direction by itself: a peer that has gone away, or our own sender that has stalled.
 * A direction that signalling put on hold is paused and never times out; its time begins anew when it is resumed.
 * Time is an argument, on a clock that never goes back.
 */
export class MediaTimeout {
  readonly timeoutMs: number;
  readonly #directions: Record<MediaDirection, DirectionState>;

  /**
   * @param timeoutMs - Silence on the wire before a direction counts as dead; 0 switches the watch off.
   * @throws {RangeError} When it is negative or no number.
   */
  constructor(timeoutMs: number, nowMs: number) {
    if (!(timeoutMs >= 0)) throw new RangeError(`a media timeout of ${timeoutMs} ms is not 0 or more`);
    this.timeoutMs = timeoutMs;
    this.#directions = {
      received: { lastActiveMs: nowMs, isPaused: false },
      sent: { lastActiveMs: nowMs, isPaused: false },
    };
  }

  /** A packet went that way. */
  active(direction: MediaDirection, nowMs: number): void {
    this.#directions[direction].lastActiveMs = nowMs;
  }

  pause(direction: MediaDirection): void {
    this.#directions[direction].isPaused = true;
  }

  /** Idempotent; resuming what was not paused changes nothing. */
  resume(direction: MediaDirection, nowMs: number): void {
    const state = this.#directions[direction];
    if (!state.isPaused) return;
    state.isPaused = false;
    state.lastActiveMs = nowMs;
  }

  isExpired(direction: MediaDirection, nowMs: number): boolean {
    const state = this.#directions[direction];
    return this.timeoutMs > 0 && !state.isPaused && nowMs - state.lastActiveMs >= this.timeoutMs;
  }
}
