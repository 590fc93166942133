/** A literal IP address and a UDP port. */
export interface MediaAddress {
  readonly address: string;
  readonly port: number;
}

/**
 * - `accepted`: from the latched source.
 * - `latched`: the packet's sender is the source from now on, and the address to send to.
 * - `refused`: from another address.
 */
export type LatchVerdict = 'accepted' | 'latched' | 'refused';

/**
 * Silence of the latched source before another may take its place: longer than the pauses of a sender without silence
 * suppression, short enough for a carrier that moves the stream unannounced.
 */
export const DEFAULT_RELATCH_AFTER_MS = 3_000;

/**
 * Symmetric RTP: media is sent to the address it comes from, which behind NATs and session border controllers often
 * differs from the signalled one. The first valid packet latches its sender, and packets from elsewhere are refused, so
 * that spraying packets at ports neither injects nor collects audio. A packet from the signalled address may still take
 * over, since the first packet after a move is often a late one of the old source.
 *
 * ```
 *                                        silent for relatchAfterMs, then a packet from anywhere;
 *            valid packet                a packet from the signalled address
 *  waiting ───────────────▶ latched ─────────────────────────────────────────────▶ latched (new source)
 *     ▲                        │
 *     └────────────────────────┘ signalled address changed
 * ```
 * Call `receive` only for packets that are valid RTP, and authentic SRTP where it is used.
 *
 * @see RFC 4961, RFC 7362 section 4 (latching)
 */
export class SourceLatch {
  readonly relatchAfterMs: number;
  #signalled: MediaAddress | undefined;
  #latched: MediaAddress | undefined;
  #lastPacketMs = 0;

  constructor(relatchAfterMs: number = DEFAULT_RELATCH_AFTER_MS) {
    this.relatchAfterMs = relatchAfterMs;
  }

  /** @returns Whether the address is new; the next valid packet from anywhere then latches. */
  signalled(address: MediaAddress): boolean {
    const changed = this.#signalled === undefined || !isSame(this.#signalled, address.address, address.port);
    if (changed && this.#signalled !== undefined) this.#latched = undefined;
    this.#signalled = address;
    return changed;
  }

  /** @param nowMs - Monotonic. */
  receive(address: string, port: number, nowMs: number): LatchVerdict {
    if (this.#latched !== undefined) {
      if (isSame(this.#latched, address, port)) {
        this.#lastPacketMs = nowMs;
        return 'accepted';
      }
      const isSignalled = this.#signalled !== undefined && isSame(this.#signalled, address, port);
      if (!isSignalled && !this.mayMove(nowMs)) {
        return 'refused';
      }
    }
    this.#latched = { address, port };
    this.#lastPacketMs = nowMs;
    return 'latched';
  }

  /** Whether another source may take the place of the latched one. */
  mayMove(nowMs: number): boolean {
    return nowMs - this.#lastPacketMs >= this.relatchAfterMs;
  }

  /** Whether the latched source is the signalled address. */
  get isAsSignalled(): boolean {
    const { port, address } = this.#latched ?? {};
    return (
      this.#signalled !== undefined && this.#signalled.port === port && this.#signalled.address === address
    );
  }

  /** Where to send: the latched source, before that the signalled address. */
  get target(): MediaAddress | undefined {
    return this.#latched ?? this.#signalled;
  }
}

function isSame(known: MediaAddress, address: string, port: number): boolean {
  return known.port === port && known.address === address;
}
