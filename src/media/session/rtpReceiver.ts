import type { Codec } from '../codecs/codec.ts';
import { createCodecConcealer } from '../concealment/codecConcealer.ts';
import { PitchConcealer } from '../concealment/pitchConcealer.ts';
import { DtmfReceiver, type DtmfSignal } from '../dtmf/receiver.ts';
import { JitterBuffer, type PulledFrame } from '../jitter/jitterBuffer.ts';
import type { PacketKind } from '../jitter/packetStore.ts';
import type { RtpPacketView } from '../rtp/packet.ts';
import { ReceptionTracker } from '../rtp/receptionTracker.ts';

/** Which number stands for what; a codec may get another one in the midst of a call. */
export interface PayloadTypes {
  readonly speech: number;
  readonly dtmf: number | undefined;
  readonly comfortNoise: number | undefined;
}

/** One codec's stream from the peer: packets of all kinds in, frames on the clock out. */
export class RtpReceiver {
  readonly reception: ReceptionTracker;
  readonly buffer: JitterBuffer;
  payloadTypes: PayloadTypes;
  readonly #onDigit: (digit: string, durationMs: number) => void;
  readonly #dtmf: DtmfReceiver;
  /** Of all frames pulled, for the mean depth of the buffer. */
  #delaySumMs = 0;
  #framesPulled = 0;

  constructor(
    codec: Codec,
    payloadTypes: PayloadTypes,
    onDigit: (digit: string, durationMs: number) => void,
  ) {
    const { rtpClockRateHz, sampleRateHz } = codec.format;
    this.payloadTypes = payloadTypes;
    this.reception = new ReceptionTracker(rtpClockRateHz);
    const concealer = createCodecConcealer(codec) ?? new PitchConcealer(sampleRateHz);
    this.buffer = new JitterBuffer({ codec, concealer });
    this.#dtmf = new DtmfReceiver(rtpClockRateHz);
    this.#onDigit = onDigit;
  }

  /** @param packet - Admitted; the bytes it shows are the stream's until they are played. */
  receive(packet: RtpPacketView, nowMs: number): void {
    const { ssrc, sequenceNumber, timestamp, payloadType, payloadLengthBytes } = packet;
    const verdict = this.reception.receive(ssrc, sequenceNumber, timestamp, nowMs, payloadLengthBytes);
    if (verdict === 'probation' || verdict === 'jumped') return;
    if (verdict !== 'valid') this.buffer.reset();
    const payload = packet.payload();
    const kind = this.#kindOf(payloadType);
    if (kind === 'other') this.#announce(this.#dtmf.receive(payload, timestamp, nowMs));
    this.buffer.insert(sequenceNumber, timestamp, payload, nowMs, kind);
  }

  /** @param dueMs - When the frame is due. @see JitterBuffer.pull */
  pull(dueMs: number, out: Int16Array): PulledFrame {
    const frame = this.buffer.pull(dueMs, out);
    this.#delaySumMs += this.buffer.delayMs;
    this.#framesPulled++;
    return frame;
  }

  /** Ends a key whose end was lost. */
  expire(nowMs: number): void {
    const signal = this.#dtmf.expire(nowMs);
    if (signal !== undefined) this.#announce([signal]);
  }

  get meanDelayMs(): number {
    return this.#framesPulled === 0 ? 0 : this.#delaySumMs / this.#framesPulled;
  }

  #kindOf(payloadType: number): PacketKind {
    if (payloadType === this.payloadTypes.speech) return 'speech';
    return payloadType === this.payloadTypes.comfortNoise ? 'comfort_noise' : 'other';
  }

  #announce(signals: readonly DtmfSignal[]): void {
    for (const { kind, digit } of signals) {
      if (kind === 'released') this.#onDigit(digit.digit, digit.durationMs);
    }
  }
}
