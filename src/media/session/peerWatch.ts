import { MediaTimeout } from '../rtp/mediaTimeout.ts';

export interface PeerWatchOptions {
  /** 0 is never. */
  readonly timeoutMs: number;
  readonly nowMs: number;
  /** The first packet of the call. */
  readonly onReceiving: (nowMs: number) => void;
  /** Nothing came for the timeout; once for each silence. */
  readonly onSilent: (timeoutMs: number) => void;
}

/** Whether the peer is there: its first packet, and the silences in which it may be gone. */
export class PeerWatch {
  readonly #timeout: MediaTimeout;
  readonly #options: PeerWatchOptions;
  #isReceiving = false;
  #isSilent = false;

  constructor(options: PeerWatchOptions) {
    this.#options = options;
    this.#timeout = new MediaTimeout(options.timeoutMs, options.nowMs);
  }

  received(nowMs: number): void {
    this.#timeout.active('received', nowMs);
    this.#isSilent = false;
    if (this.#isReceiving) return;
    this.#isReceiving = true;
    this.#options.onReceiving(nowMs);
  }

  /** @param isExpected - False while the call is held, from either side: that is no silence. */
  expect(isExpected: boolean, nowMs: number): void {
    if (isExpected) this.#timeout.resume('received', nowMs);
    else this.#timeout.pause('received');
    this.#isSilent = false;
  }

  tick(nowMs: number): void {
    if (this.#isSilent || !this.#timeout.isExpired('received', nowMs)) return;
    this.#isSilent = true;
    this.#options.onSilent(this.#timeout.timeoutMs);
  }
}
