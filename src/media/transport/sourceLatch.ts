/** A literal IP address and a UDP port. */
export interface MediaAddress {
  readonly address: string;
  readonly port: number;
}

/** A packet's place in its stream. */
export interface StreamPlace {
  readonly ssrc: number;
  /** 0..65535 */
  readonly sequenceNumber: number;
}

/**
 * - `nat`: another source than the signalled address may send the audio, as behind NATs and session border controllers.
 * - `strict`: only the signalled address.
 */
export type Latching = 'nat' | 'strict';
export const DEFAULT_LATCHING: Latching = 'nat';

/**
 * - `accepted`: from the latched source.
 * - `latched`: the packet's sender is the source from now on, and the address to send to.
 * - `refused`: from another address.
 */
export type LatchVerdict = 'accepted' | 'latched' | 'refused';

/** The signalled address sends within a round trip of the answer; what it sends first excludes all others. */
export const GRACE_MS = 500;
/** 200 ms of audio at 20 ms a packet. */
export const CONSISTENT_PACKETS = 10;
/** Lost packets that a consistent stream may have in a row. */
const MAX_STEP = 50;
/** Silence of a source that signalling did not name, after which the signalled address is listened to again. */
const SILENT_AFTER_MS = 3_000;

/**
 * Symmetric RTP: media is sent to the address it comes from, which behind NATs often differs from the signalled one.
 * A stranger who sprays packets at ports must neither inject nor collect audio, so that the signalled address always
 * wins, and another source counts only while the signalled one has sent nothing: after a grace, and with a stream of
 * its own.
 *
 * ```
 *            packet from the signalled address
 *  waiting ─────────────────────────────────────▶ latched as signalled ─▶ never to another
 *     │                                              ▲
 *     │ `nat`: GRACE_MS over, CONSISTENT_PACKETS     │ packet from the signalled address
 *     └──────────────────────────────────────────▶ latched elsewhere ─▶ never to a third
 *  any state ── signalled address changed ──▶ waiting
 * ```
 * Call `receive` only for packets that are valid RTP, and authentic SRTP where it is used.
 *
 * @see RFC 4961, RFC 7362 section 4 (latching)
 */
export class SourceLatch {
  readonly #latching: Latching;
  #signalled: MediaAddress | undefined;
  #signalledAtMs = 0;
  #latched: MediaAddress | undefined;
  #candidate: (MediaAddress & StreamPlace) | undefined;
  #candidatePackets = 0;
  #lastPacketMs = 0;

  constructor(latching: Latching = DEFAULT_LATCHING) {
    this.#latching = latching;
  }

  /** @param nowMs - Monotonic. @returns Whether the address is new; the latch then waits again. */
  signalled(address: MediaAddress, nowMs: number): boolean {
    if (isSame(this.#signalled, address.address, address.port)) return false;
    this.#signalled = address;
    this.#signalledAtMs = nowMs;
    this.#latched = undefined;
    this.#candidate = undefined;
    return true;
  }

  /** @param packet - Not kept. @param nowMs - Monotonic. */
  receive(address: string, port: number, packet: StreamPlace, nowMs: number): LatchVerdict {
    if (isSame(this.#latched, address, port)) {
      this.#lastPacketMs = nowMs;
      return 'accepted';
    }
    if (!isSame(this.#signalled, address, port) && !this.#admitsOther(address, port, packet, nowMs))
      return 'refused';
    this.#latched = { address, port };
    this.#lastPacketMs = nowMs;
    return 'latched';
  }

  /** Whether a source that signalling did not name has stopped sending. */
  isLost(nowMs: number): boolean {
    return !this.isAsSignalled && nowMs - this.#lastPacketMs >= SILENT_AFTER_MS;
  }

  /** Whether the latched source is the signalled address. */
  get isAsSignalled(): boolean {
    return this.#latched !== undefined && isSame(this.#signalled, this.#latched.address, this.#latched.port);
  }

  /** Where to send: the latched source, before that the signalled address. */
  get target(): MediaAddress | undefined {
    return this.#latched ?? this.#signalled;
  }

  #admitsOther(address: string, port: number, packet: StreamPlace, nowMs: number): boolean {
    if (this.#latching === 'strict' || this.#latched !== undefined) return false;
    const isNext = isSame(this.#candidate, address, port) && this.#isNextOfCandidate(packet);
    this.#candidatePackets = isNext ? this.#candidatePackets + 1 : 1;
    const { ssrc, sequenceNumber } = packet;
    this.#candidate = { address, port, ssrc, sequenceNumber };
    return this.#candidatePackets >= CONSISTENT_PACKETS && nowMs - this.#signalledAtMs >= GRACE_MS;
  }

  #isNextOfCandidate({ ssrc, sequenceNumber }: StreamPlace): boolean {
    if (this.#candidate === undefined) return false;
    const step = (sequenceNumber - this.#candidate.sequenceNumber) & 0xffff;
    return ssrc === this.#candidate.ssrc && step >= 1 && step <= MAX_STEP;
  }
}

function isSame(known: MediaAddress | undefined, address: string, port: number): boolean {
  return known !== undefined && known.port === port && known.address === address;
}
