export interface MediaTimeoutOptions {
  /** Silence on the wire before `onTimeout`; 0 is never. */
  readonly timeoutMs: number;
  readonly nowMs: number;
  /** The first packet of the call. */
  readonly onFirstPacket: (nowMs: number) => void;
  /** Called once for each silence. */
  readonly onTimeout: () => void;
}

/** Detects a peer that has stopped sending RTP. Time is an argument, on a monotonic clock. */
export class MediaTimeout {
  readonly #options: MediaTimeoutOptions;
  #lastPacketMs: number;
  #hasReceived = false;
  #hasTimedOut = false;
  #isPaused = false;

  /** @throws {RangeError} When the timeout is negative or not a number. */
  constructor(options: MediaTimeoutOptions) {
    if (!(options.timeoutMs >= 0))
      throw new RangeError(`media timeout of ${options.timeoutMs} ms is not 0 or more`);
    this.#options = options;
    this.#lastPacketMs = options.nowMs;
  }

  received(nowMs: number): void {
    this.#lastPacketMs = nowMs;
    this.#hasTimedOut = false;
    if (this.#hasReceived) return;
    this.#hasReceived = true;
    this.#options.onFirstPacket(nowMs);
  }

  /** @param isExpected - False while either side holds the call. The timeout starts anew when the hold ends. */
  expect(isExpected: boolean, nowMs: number): void {
    if (isExpected && this.#isPaused) this.#lastPacketMs = nowMs;
    this.#isPaused = !isExpected;
    this.#hasTimedOut = false;
  }

  tick(nowMs: number): void {
    const { timeoutMs, onTimeout } = this.#options;
    if (timeoutMs === 0 || this.#isPaused || this.#hasTimedOut) return;
    if (nowMs - this.#lastPacketMs < timeoutMs) return;
    this.#hasTimedOut = true;
    onTimeout();
  }
}
