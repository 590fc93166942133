import type { Codec, CodecFormat } from '../codecs/codec.ts';
import { DtmfReceiver } from '../dtmf/receiver.ts';
import { JitterBuffer, type PulledFrame } from '../jitter/jitterBuffer.ts';
import type { DtmfDigit } from '../mediaSession.ts';
import type { RtpPacketView } from '../rtp/packet.ts';
import { ReceptionTracker } from '../rtp/receptionTracker.ts';
import { type PeerDecoder, PeerDecoders } from './peerDecoders.ts';

/** The meaning of packets of one payload type. */
export type ReceivedFormat =
  | { readonly kind: 'speech'; readonly codec: CodecFormat }
  | { readonly kind: 'comfort_noise' }
  | { readonly kind: 'dtmf'; readonly rtpClockRateHz: number };

/** Lost packets and a pause between two codecs of one stream are shorter. */
const MAX_JUMP_MS = 1000;

/** A call's stream from the peer: packets of all kinds in, frames of audio out, at the rate of the call's codec. */
export class RtpReceiver {
  readonly reception: ReceptionTracker;
  readonly buffer: JitterBuffer;
  /** The formats by payload type; a later offer may change them. */
  formats: ReadonlyMap<number, ReceivedFormat> = new Map();
  /** Packets and frames that failed in a way that no check has foreseen. */
  failures = 0;
  readonly #decoders: PeerDecoders;
  readonly #dtmf: DtmfReceiver;
  /** The decoder of the last speech packet. */
  #lastDecoder: PeerDecoder | undefined;
  #lastClockRateHz = 0;
  #lastTimestamp = 0;
  #delaySumMs = 0;
  #framesPulled = 0;

  constructor(codec: Codec, onDigit: (digit: DtmfDigit) => void) {
    const { rtpClockRateHz } = codec.format;
    this.reception = new ReceptionTracker(rtpClockRateHz);
    this.#decoders = new PeerDecoders(codec);
    this.buffer = new JitterBuffer({ codec, concealer: this.#decoders });
    this.#dtmf = new DtmfReceiver(onDigit);
  }

  /**
   * @param packet - Accepted by the packet filter; its bytes are the receiver's until they are played.
   * @param hasWaited - @see JitterBuffer.insert
   */
  receive(packet: RtpPacketView, nowMs: number, hasWaited: boolean): void {
    const format = this.formats.get(packet.payloadType);
    if (format?.kind === 'dtmf') {
      this.#dtmf.receive(packet, format.rtpClockRateHz, nowMs);
      // Some peers send events as a source of its own, which must not take the place of the audio.
      if (this.reception.source !== undefined && this.reception.source.ssrc !== packet.ssrc) return;
    }
    const decoder = format?.kind === 'speech' ? this.#decoders.of(format.codec) : undefined;
    const timestamp = decoder?.toCallTicks(packet) ?? packet.timestamp;
    const { ssrc, sequenceNumber } = packet;
    const isNewTimeline = decoder !== undefined && this.#leavesTimeline(decoder, timestamp);
    const timing = format?.kind === 'dtmf' || isNewTimeline ? undefined : timestamp;
    const verdict = this.reception.receive(ssrc, sequenceNumber, timing, nowMs);
    if (verdict === 'probation' || verdict === 'jumped') return;
    if (decoder) {
      this.#lastDecoder = decoder;
      this.#lastClockRateHz = decoder.clock.rateHz;
      this.#lastTimestamp = timestamp;
    }
    if (verdict !== 'valid' || isNewTimeline) this.buffer.reset();
    const kind = decoder ? 'speech' : format?.kind === 'comfort_noise' ? 'comfort_noise' : 'other';
    this.buffer.insert(sequenceNumber, timestamp, packet.payload(), nowMs, kind, hasWaited, decoder);
  }

  /** @param dueMs - The time at which the frame is due. @see JitterBuffer.pull */
  pull(dueMs: number, out: Int16Array): PulledFrame {
    const pulled = this.#pull(dueMs, out);
    this.#delaySumMs += this.buffer.delayMs;
    this.#framesPulled++;
    return pulled;
  }

  /** No packet ends a call: where decoding fails the frame is silent, and the stream starts anew. */
  #pull(dueMs: number, out: Int16Array): PulledFrame {
    try {
      return this.buffer.pull(dueMs, out);
    } catch {
      this.failures++;
      this.buffer.reset();
      out.fill(0);
      return 'silence';
    }
  }

  /** Ends a digit whose end packets were lost. */
  expireDigit(nowMs: number): void {
    this.#dtmf.expire(nowMs);
  }

  get meanDelayMs(): number {
    return this.#framesPulled === 0 ? 0 : this.#delaySumMs / this.#framesPulled;
  }

  close(): void {
    this.#decoders.close();
  }

  /**
   * Returns true when the peer has changed to another clock, or to a codec whose timestamps do not continue the last
   * ones.
   */
  #leavesTimeline(decoder: PeerDecoder, timestamp: number): boolean {
    if (this.#lastDecoder === undefined) return false;
    if (this.#lastClockRateHz !== decoder.clock.rateHz) return true;
    if (this.#lastDecoder === decoder) return false;
    const jumpMs = (((timestamp - this.#lastTimestamp) | 0) * 1000) / this.reception.rtpClockRateHz;
    return Math.abs(jumpMs) > MAX_JUMP_MS;
  }
}
