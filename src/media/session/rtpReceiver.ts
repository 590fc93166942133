import type { Codec } from '../codecs/codec.ts';
import { createCodecConcealer } from '../concealment/concealer.ts';
import { PitchConcealer } from '../concealment/pitchConcealer.ts';
import { DtmfReceiver } from '../dtmf/receiver.ts';
import { JitterBuffer } from '../jitter/jitterBuffer.ts';
import type { PacketKind } from '../jitter/packetStore.ts';
import type { DtmfDigit } from '../mediaSession.ts';
import type { RtpPacketView } from '../rtp/packet.ts';
import { ReceptionTracker } from '../rtp/receptionTracker.ts';

/** A later offer may change the numbers. */
export interface PayloadTypes {
  readonly speech: number;
  readonly comfortNoise: number | undefined;
}

/** One codec's stream from the peer: packets of all kinds in, frames of audio out. */
export class RtpReceiver {
  readonly reception: ReceptionTracker;
  readonly buffer: JitterBuffer;
  payloadTypes: PayloadTypes = { speech: -1, comfortNoise: undefined };
  readonly #dtmf: DtmfReceiver;
  #delaySumMs = 0;
  #framesPulled = 0;

  constructor(codec: Codec, onDigit: (digit: DtmfDigit) => void) {
    const { rtpClockRateHz, sampleRateHz } = codec.format;
    this.reception = new ReceptionTracker(rtpClockRateHz);
    const concealer = createCodecConcealer(codec) ?? new PitchConcealer(sampleRateHz);
    this.buffer = new JitterBuffer({ codec, concealer });
    this.#dtmf = new DtmfReceiver(rtpClockRateHz, onDigit);
  }

  /**
   * @param packet - Accepted by the packet filter; its bytes are the receiver's until they are played.
   * @param hasWaited - @see JitterBuffer.insert
   */
  receive(packet: RtpPacketView, nowMs: number, hasWaited: boolean): void {
    const { ssrc, sequenceNumber, timestamp, payloadType } = packet;
    const verdict = this.reception.receive(ssrc, sequenceNumber, timestamp, nowMs);
    if (verdict === 'probation' || verdict === 'jumped') return;
    if (verdict !== 'valid') this.buffer.reset();
    const payload = packet.payload();
    const kind = this.#kindOf(payloadType);
    if (kind === 'other') this.#dtmf.receive(payload, timestamp, nowMs);
    this.buffer.insert(sequenceNumber, timestamp, payload, nowMs, kind, hasWaited);
  }

  /** @param dueMs - When the frame is due. @see JitterBuffer.pull */
  pull(dueMs: number, out: Int16Array): void {
    this.buffer.pull(dueMs, out);
    this.#delaySumMs += this.buffer.delayMs;
    this.#framesPulled++;
  }

  /** Ends a digit whose end packets were lost. */
  expireDigit(nowMs: number): void {
    this.#dtmf.expire(nowMs);
  }

  get meanDelayMs(): number {
    return this.#framesPulled === 0 ? 0 : this.#delaySumMs / this.#framesPulled;
  }

  #kindOf(payloadType: number): PacketKind {
    if (payloadType === this.payloadTypes.speech) return 'speech';
    return payloadType === this.payloadTypes.comfortNoise ? 'comfort_noise' : 'other';
  }
}
