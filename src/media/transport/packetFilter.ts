import { isRtcp, RtpPacketView } from '../rtp/packet.ts';
import type { SrtpStream } from '../srtp/srtp.ts';
import { SourceLatch } from './sourceLatch.ts';

/** Packets that were not taken, by the reason; they only grow. */
export interface PacketDrops {
  /** No RTP, or cut, or of another version. */
  malformed: number;
  /** Not encrypted with the key that was agreed, or sent a second time. */
  unauthentic: number;
  /** Of a payload type that was not agreed. */
  unknownPayloadType: number;
  /** From somewhere else than the source that is latched. */
  foreignSource: number;
  /** More in one tick than any network hands over late. */
  flooded: number;
}

export type FilterVerdict = 'rtp' | 'rtcp' | 'dropped';

/** So many between two ticks: a second's worth of packets of a sender that was held up by the network. */
const MAX_PACKETS_PER_TICK = 50;

/**
 * What stands between a call's socket and its audio: RTP of the peer gets in, all else is counted and dropped. Packets
 * are looked at where they lie, and nothing is allocated.
 */
export class PacketFilter {
  /** Shows the packet that was admitted last. */
  readonly view = new RtpPacketView();
  readonly latch = new SourceLatch();
  readonly drops: PacketDrops = {
    malformed: 0,
    unauthentic: 0,
    unknownPayloadType: 0,
    foreignSource: 0,
    flooded: 0,
  };
  #payloadTypes: ReadonlySet<number> = new Set();
  #srtp: SrtpStream | undefined;
  #packetsThisTick = 0;
  #hasLatched = false;

  /** @param srtp - The peer's direction; undefined for plain RTP. */
  expect(payloadTypes: ReadonlySet<number>, srtp: SrtpStream | undefined): void {
    this.#payloadTypes = payloadTypes;
    this.#srtp = srtp;
  }

  /** Another tick's packets may come. */
  tick(): void {
    this.#packetsThisTick = 0;
  }

  /** Whether the packet that was admitted last made its sender the source. */
  get hasLatched(): boolean {
    return this.#hasLatched;
  }

  admit(bytes: Uint8Array, address: string, port: number, nowMs: number): FilterVerdict {
    if (++this.#packetsThisTick > MAX_PACKETS_PER_TICK) {
      this.drops.flooded++;
      return 'dropped';
    }
    if (isRtcp(bytes)) return 'rtcp';
    const plain = this.#srtp === undefined ? bytes : this.#srtp.unprotect(bytes);
    if (typeof plain === 'string') {
      this.drops.unauthentic++;
      return 'dropped';
    }
    if (this.view.read(plain) !== undefined) {
      this.drops.malformed++;
      return 'dropped';
    }
    if (!this.#payloadTypes.has(this.view.payloadType)) {
      this.drops.unknownPayloadType++;
      return 'dropped';
    }
    const verdict = this.latch.receive(address, port, nowMs);
    if (verdict === 'refused') {
      this.drops.foreignSource++;
      return 'dropped';
    }
    this.#hasLatched = verdict === 'latched';
    return 'rtp';
  }
}
