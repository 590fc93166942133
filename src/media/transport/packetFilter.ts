import { isRtcp, RtpPacketView } from '../rtp/packet.ts';
import type { SrtpStream } from '../srtp/srtp.ts';
import { type Latching, SourceLatch } from './sourceLatch.ts';

/** Counts of dropped packets, by reason. */
export interface PacketDrops {
  /** The packets that are truncated or of another version than RTP 2. */
  malformed: number;
  /** The packets whose handler threw an error. */
  failed: number;
  /** SRTP with another key, or replayed. */
  unauthentic: number;
  /** A payload type that was not negotiated. */
  unknownPayloadType: number;
  /** The packets from a source other than the latched one. */
  foreignSource: number;
  /** The packets above the limit per tick. */
  flooded: number;
}

/** The negotiated ones: a set, or a map by them. */
export interface PayloadTypes {
  has(payloadType: number): boolean;
}

export type FilterVerdict = 'rtp' | 'rtcp' | 'dropped';

/** A second of packets, as a network may deliver them at once after a delay. */
const MAX_PACKETS_PER_TICK = 50;

/** Passes the peer's RTP, and counts and drops all else. Packets are read in place, without allocation. */
export class PacketFilter {
  /** The packet that was passed last. */
  readonly view = new RtpPacketView();
  readonly latch: SourceLatch;
  readonly drops: PacketDrops = {
    malformed: 0,
    failed: 0,
    unauthentic: 0,
    unknownPayloadType: 0,
    foreignSource: 0,
    flooded: 0,
  };
  #payloadTypes: PayloadTypes = new Set();
  #srtp: SrtpStream | undefined;
  #packetsThisTick = 0;
  #hasLatched = false;

  constructor(latching: Latching | undefined) {
    this.latch = new SourceLatch(latching);
  }

  /** @param srtp - The peer's direction; undefined for plain RTP. */
  expect(payloadTypes: PayloadTypes, srtp: SrtpStream | undefined): void {
    this.#payloadTypes = payloadTypes;
    this.#srtp = srtp;
  }

  tick(): void {
    this.#packetsThisTick = 0;
  }

  /** True when the packet that was passed last has latched its sender. */
  get hasLatched(): boolean {
    return this.#hasLatched;
  }

  check(bytes: Uint8Array, address: string, port: number, nowMs: number): FilterVerdict {
    if (++this.#packetsThisTick > MAX_PACKETS_PER_TICK) return this.#drop('flooded');
    if (isRtcp(bytes)) return 'rtcp';
    const plain = this.#srtp === undefined ? bytes : this.#srtp.unprotect(bytes);
    if (typeof plain === 'string') return this.#drop('unauthentic');
    if (this.view.read(plain) !== undefined) return this.#drop('malformed');
    if (!this.#payloadTypes.has(this.view.payloadType)) return this.#drop('unknownPayloadType');
    const verdict = this.latch.receive(address, port, this.view, nowMs);
    if (verdict === 'refused') return this.#drop('foreignSource');
    this.#hasLatched = verdict === 'latched';
    return 'rtp';
  }

  #drop(reason: keyof PacketDrops): 'dropped' {
    this.drops[reason]++;
    return 'dropped';
  }
}
