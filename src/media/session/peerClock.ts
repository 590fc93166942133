import { type CodecFormat, timestampTicksPerFrame } from '../codecs/codec.ts';
import type { RtpPacketView } from '../rtp/packet.ts';

/** Packets in a row that show another clock; some peers start with a few wrong ones. */
const CONVINCING_PACKETS = 5;

/**
 * Finds the clock of a peer's timestamps. G.722 is to count at 8000 Hz; some peers count its samples, at 16,000 Hz, which
 * the length of their packets shows.
 *
 * @see RFC 3551 section 4.5.2
 */
export class PeerClock {
  readonly #format: CodecFormat;
  #rateHz: number;
  #sequenceNumber = 0;
  #timestamp = 0;
  /** The length of the last packet, by the clock of its format. */
  #ticks = 0;
  #packetsBySamples = 0;

  constructor(format: CodecFormat) {
    this.#format = format;
    this.#rateHz = format.rtpClockRateHz;
  }

  get rateHz(): number {
    return this.#rateHz;
  }

  observe({ sequenceNumber, timestamp, payloadLengthBytes }: RtpPacketView): void {
    const { name, maxBytesPer20Ms, rtpClockRateHz, sampleRateHz } = this.#format;
    if (name !== 'G722') return;
    const isNext = sequenceNumber === ((this.#sequenceNumber + 1) & 0xffff) && this.#ticks > 0;
    const stepTicks = (timestamp - this.#timestamp) | 0;
    const isBySamples = isNext && stepTicks === (this.#ticks * sampleRateHz) / rtpClockRateHz;
    this.#packetsBySamples = isBySamples ? this.#packetsBySamples + 1 : 0;
    if (isNext && stepTicks === this.#ticks) this.#rateHz = rtpClockRateHz;
    if (this.#packetsBySamples === CONVINCING_PACKETS) this.#rateHz = sampleRateHz;
    this.#sequenceNumber = sequenceNumber;
    this.#timestamp = timestamp;
    this.#ticks = (payloadLengthBytes * timestampTicksPerFrame(this.#format)) / maxBytesPer20Ms;
  }
}
