/** Where media comes from and goes to: an IP address in text and a UDP port. */
export interface MediaAddress {
  readonly address: string;
  readonly port: number;
}

/**
 * - `accepted`: from the source that is latched.
 * - `latched`: this packet made its sender the source; send there from now on.
 * - `refused`: from a stranger; not to be played, not to be answered.
 */
export type LatchVerdict = 'accepted' | 'latched' | 'refused';

/**
 * How long the latched source must have been silent before another may take its place. Longer than any pause of a
 * sender without silence suppression, shorter than a caller's patience when a carrier moves the stream unannounced.
 */
export const DEFAULT_RELATCH_AFTER_MS = 3_000;

/**
 * Symmetric RTP: media is sent back to where it comes from, which is often not what signalling named, since NATs and
 * session border controllers stand between. The first valid packet latches its sender; everybody else is refused from
 * then on, so that nobody can inject or collect audio by spraying packets at ports. Only where signalling itself sends
 * us a packet may still take over: the first one after a move is often a last one of the old source.
 *
 * ```
 *                                        silent for relatchAfterMs, then a packet from anywhere;
 *            valid packet                a packet from the signalled address
 *  waiting ───────────────▶ latched ─────────────────────────────────────────────▶ latched (new source)
 *     ▲                        │
 *     └────────────────────────┘ signalled address changed
 * ```
 * Call `receive` only for packets that passed the checks of RTP (and of SRTP, where it is used).
 *
 * @see RFC 4961, RFC 7362 section 4 (latching)
 */
export class SourceLatch {
  readonly relatchAfterMs: number;
  relatches = 0;
  packetsRefused = 0;
  #signalled: MediaAddress | undefined;
  #latched: MediaAddress | undefined;
  #lastPacketMs = 0;

  constructor(relatchAfterMs: number = DEFAULT_RELATCH_AFTER_MS) {
    this.relatchAfterMs = relatchAfterMs;
  }

  /** @returns True when the address is new, and the next valid packet from anywhere latches again. */
  signalled(address: MediaAddress): boolean {
    const changed = this.#signalled === undefined || !isSame(this.#signalled, address.address, address.port);
    if (changed && this.#signalled !== undefined) this.#latched = undefined;
    this.#signalled = address;
    return changed;
  }

  /** @param nowMs - On a clock that never goes back. */
  receive(address: string, port: number, nowMs: number): LatchVerdict {
    if (this.#latched !== undefined) {
      if (isSame(this.#latched, address, port)) {
        this.#lastPacketMs = nowMs;
        return 'accepted';
      }
      const isAwaited = this.#signalled !== undefined && isSame(this.#signalled, address, port);
      if (!isAwaited && !this.mayMove(nowMs)) {
        this.packetsRefused++;
        return 'refused';
      }
      this.relatches++;
    }
    this.#latched = { address, port };
    this.#lastPacketMs = nowMs;
    return 'latched';
  }

  /** Whether the latched source has been silent for so long that another may take its place. */
  mayMove(nowMs: number): boolean {
    return nowMs - this.#lastPacketMs >= this.relatchAfterMs;
  }

  /** Audio comes from where signalling said that it would. */
  get isAsSignalled(): boolean {
    const { port, address } = this.#latched ?? {};
    return (
      this.#signalled !== undefined && this.#signalled.port === port && this.#signalled.address === address
    );
  }

  /** Where to send: the latched source, before that what signalling named. */
  get target(): MediaAddress | undefined {
    return this.#latched ?? this.#signalled;
  }

  get isLatched(): boolean {
    return this.#latched !== undefined;
  }
}

function isSame(known: MediaAddress, address: string, port: number): boolean {
  return known.port === port && known.address === address;
}
