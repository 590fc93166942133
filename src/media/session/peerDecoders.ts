import { type Codec, type CodecFormat, type Decoder, MAX_PACKET_DURATION_MS } from '../codecs/codec.ts';
import { type Concealer, createCodecConcealer } from '../concealment/concealer.ts';
import { PitchConcealer } from '../concealment/pitchConcealer.ts';
import { createResampler, isSampleRate, type SampleRateHz } from '../resample/resampler.ts';
import type { RtpPacketView } from '../rtp/packet.ts';
import { createTimestampUnwrapper } from '../rtp/unwrapper.ts';
import { PeerClock } from './peerClock.ts';

/** A codec that the peer may send, at the call's sample rate. */
export interface PeerDecoder extends Decoder {
  /** The clock of the peer's timestamps. */
  readonly clock: PeerClock;
  /** @returns The packet's timestamp by the clock of the call's codec, 0..2^32-1. */
  toCallTicks(packet: RtpPacketView): number;
}

interface OpenDecoder extends PeerDecoder {
  readonly concealer: Concealer;
  close(): void;
}

/**
 * The decoders of a call's agreed codecs, between which the peer may change at any packet. Each is opened by its first
 * packet. Lost speech is concealed as the codec of the last packet does it.
 *
 * @see RFC 3264 section 6.1
 */
export class PeerDecoders implements Concealer {
  readonly #codec: Codec;
  readonly #sampleRateHz: SampleRateHz;
  readonly #open = new Map<CodecFormat, OpenDecoder>();
  #concealer: Concealer;

  /** @param codec - The call's own, which stays its owner's. @throws {RangeError} For an unsupported sample rate. */
  constructor(codec: Codec) {
    const { sampleRateHz } = codec.format;
    if (!isSampleRate(sampleRateHz))
      throw new RangeError(`${sampleRateHz} Hz is not a supported sample rate`);
    this.#codec = codec;
    this.#sampleRateHz = sampleRateHz;
    this.#concealer = this.of(codec.format).concealer;
  }

  of(format: CodecFormat): OpenDecoder {
    const known = this.#open.get(format);
    if (known) return known;
    const opened = format === this.#codec.format ? this.#own() : this.#other(format);
    this.#open.set(format, opened);
    return opened;
  }

  received(frame: Int16Array): void {
    this.#concealer.received(frame);
  }

  conceal(out: Int16Array): void {
    this.#concealer.conceal(out);
  }

  close(): void {
    for (const decoder of this.#open.values()) decoder.close();
  }

  #own(): OpenDecoder {
    const codec = this.#codec;
    const concealer = createCodecConcealer(codec) ?? new PitchConcealer(this.#sampleRateHz);
    return {
      ...this.#timing(codec.format),
      concealer,
      partBytes: codec.partBytes,
      decode: (payload, out) => {
        this.#concealer = concealer;
        return codec.decode(payload, out);
      },
      recover: codec.recover && ((nextPayload, out) => codec.recover?.(nextPayload, out) ?? 0),
      close() {},
    };
  }

  #other(format: CodecFormat): OpenDecoder {
    const { sampleRateHz } = format;
    if (!isSampleRate(sampleRateHz))
      throw new RangeError(`${sampleRateHz} Hz is not a supported sample rate`);
    const codec = format.open();
    const samples = new Int16Array((sampleRateHz * MAX_PACKET_DURATION_MS) / 1000);
    const resampler = createResampler(sampleRateHz, this.#sampleRateHz, samples.length);
    const concealer = new PitchConcealer(this.#sampleRateHz);
    return {
      ...this.#timing(format),
      concealer,
      partBytes: codec.partBytes,
      decode: (payload, out) => {
        this.#concealer = concealer;
        return resampler.process(samples.subarray(0, codec.decode(payload, samples)), out);
      },
      close: () => codec.close(),
    };
  }

  #timing(format: CodecFormat) {
    const { rtpClockRateHz } = this.#codec.format;
    const clock = new PeerClock(format);
    const timestamps = createTimestampUnwrapper();
    return {
      clock,
      toCallTicks(packet: RtpPacketView) {
        clock.observe(packet);
        return Math.round((timestamps.unwrap(packet.timestamp) * rtpClockRateHz) / clock.rateHz) >>> 0;
      },
    };
  }
}
