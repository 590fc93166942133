/** A literal IP address and a UDP port. */
export interface MediaAddress {
  readonly address: string;
  readonly port: number;
}

/** A packet's place in its stream. */
export interface StreamPlace {
  readonly ssrc: number;
  /** The sequence number, 0..65535. */
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
/** Grace for sources at a host other than that of the peer's signalling: the peer behind its NAT is latched first. */
export const OTHER_HOST_GRACE_MS = 1_000;
/** 200 ms of audio at 20 ms a packet. */
export const CONSISTENT_PACKETS = 10;
/** Lost packets that a consistent stream may have in a row. */
const MAX_STEP = 50;
/**
 * Sources that are tracked at once; the least consistent one is dropped, so that changing ports do not displace the
 * peer.
 */
const MAX_CANDIDATES = 128;
/** Silence of a source that signalling did not name, after which the signalled address is listened to again. */
const SILENT_AFTER_MS = 3_000;

/**
 * Symmetric RTP: media is sent to the address it comes from, which behind NATs often differs from the signalled one.
 * A stranger who sprays packets at ports must neither inject nor collect audio, so that the signalled address always
 * wins, and another source counts only while the signalled one has sent nothing: after a grace, and with a stream of
 * its own, whatever others send in between.
 *
 * ```
 *            packet from the signalled address
 *  waiting ─────────────────────────────────────▶ latched as signalled ─▶ never to another
 *     │                                              ▲
 *     │ `nat`: its grace over, CONSISTENT_PACKETS    │ packet from the signalled address
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
  #signallingHost: string | undefined;
  #signalledAtMs = 0;
  #latched: MediaAddress | undefined;
  /** The candidates in the order of their last packets, newest last. */
  #candidates: Candidate[] = [];
  #lastPacketMs = 0;

  constructor(latching: Latching = DEFAULT_LATCHING) {
    this.#latching = latching;
  }

  /**
   * @param nowMs - The monotonic time.
   * @param signallingHost - The source address of the peer's signalling. Default: unknown.
   * @returns True when the address is new; the latch then waits again.
   */
  signalled(address: MediaAddress, nowMs: number, signallingHost?: string): boolean {
    if (isSame(this.#signalled, address.address, address.port)) return false;
    this.#signalled = address;
    this.#signallingHost = signallingHost;
    this.#signalledAtMs = nowMs;
    this.#latched = undefined;
    this.#candidates = [];
    return true;
  }

  /** @param packet - The packet's place in its stream; not kept. @param nowMs - The monotonic time. */
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

  /** Returns true when a source that signalling did not name has stopped sending. */
  isLost(nowMs: number): boolean {
    return !this.isAsSignalled && nowMs - this.#lastPacketMs >= SILENT_AFTER_MS;
  }

  /** True when the latched source is the signalled address. */
  get isAsSignalled(): boolean {
    return this.#latched !== undefined && isSame(this.#signalled, this.#latched.address, this.#latched.port);
  }

  /** The address to send to: the latched source, or before latching the signalled address. */
  get target(): MediaAddress | undefined {
    return this.#latched ?? this.#signalled;
  }

  #admitsOther(address: string, port: number, packet: StreamPlace, nowMs: number): boolean {
    if (this.#latching === 'strict' || this.#latched !== undefined) return false;
    const isNear = this.#signallingHost === undefined || address === this.#signallingHost;
    const graceMs = isNear ? GRACE_MS : OTHER_HOST_GRACE_MS;
    if (this.#follow(address, port, packet) < CONSISTENT_PACKETS || nowMs - this.#signalledAtMs < graceMs)
      return false;
    this.#candidates = [];
    return true;
  }

  /** @returns Consecutive packets of this source, including this one. */
  #follow(address: string, port: number, { ssrc, sequenceNumber }: StreamPlace): number {
    const candidates = this.#candidates;
    const index = candidates.findIndex((candidate) => isSame(candidate, address, port));
    const known = candidates[index];
    if (known) candidates.splice(index, 1);
    else if (candidates.length === MAX_CANDIDATES) candidates.splice(leastConsistent(candidates), 1);
    const packets = known && isNext(known, ssrc, sequenceNumber) ? known.packets + 1 : 1;
    candidates.push({ address, port, ssrc, sequenceNumber, packets });
    return packets;
  }
}

/** A source that signalling did not name, and its last packet. */
interface Candidate extends MediaAddress, StreamPlace {
  /** The consecutive packets of the candidate's stream. */
  readonly packets: number;
}

/**
 * @returns Index of the candidate with the fewest consecutive packets; of several, the one that sent least recently.
 */
function leastConsistent(candidates: readonly Candidate[]): number {
  return candidates.reduce(
    (least, { packets }, index) => (packets < (candidates[least]?.packets ?? 0) ? index : least),
    0,
  );
}

function isNext(last: StreamPlace, ssrc: number, sequenceNumber: number): boolean {
  const step = (sequenceNumber - last.sequenceNumber) & 0xffff;
  return ssrc === last.ssrc && step >= 1 && step <= MAX_STEP;
}

function isSame(known: MediaAddress | undefined, address: string, port: number): boolean {
  return known !== undefined && known.port === port && known.address === address;
}
