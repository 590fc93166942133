import { CallwayError } from '../../base/errors.ts';
import { type Codec, timestampTicksPerFrame } from '../codecs/codec.ts';
import { DtmfSender } from '../dtmf/sender.ts';
import type { NegotiatedCodec } from '../mediaSession.ts';
import { RTP_FIXED_HEADER_BYTES } from '../rtp/packet.ts';
import { Packetizer, type PacketizerStart } from '../rtp/packetizer.ts';
import type { SrtpStream } from '../srtp/srtp.ts';

/** The longest SRTP trailer: key identifier and authentication tag. */
const MAX_TRAILER_BYTES = 16;

export interface RtpSenderOptions {
  readonly codec: Codec;
  readonly start: PacketizerStart;
  /** @param packet - The packet, valid during the call only. */
  readonly send: (packet: Uint8Array) => void;
}

interface PendingDigits {
  resolve(): void;
  reject(error: Error): void;
}

/** The stream of one codec to the peer: a packet for each frame, of audio or of a DTMF event. */
export class RtpSender {
  readonly packetizer: Packetizer;
  payloadType = 0;
  /** The format of DTMF events; undefined when the peer supports no RFC 4733 events. */
  dtmf: NegotiatedCodec | undefined;
  srtp: SrtpStream | undefined;
  readonly #codec: Codec;
  readonly #digits = new DtmfSender();
  readonly #send: (packet: Uint8Array) => void;
  readonly #frameTicks: number;
  readonly #packet: Uint8Array;
  readonly #payload: Uint8Array;
  #pendingDigits: PendingDigits[] = [];
  /** The next audio packet starts a talkspurt. */
  #isTalkspurtStart = true;

  constructor({ codec, start, send }: RtpSenderOptions) {
    const { maxBytesPer20Ms } = codec.format;
    this.#codec = codec;
    this.#send = send;
    this.#frameTicks = timestampTicksPerFrame(codec.format);
    this.packetizer = new Packetizer(start);
    const payloadEnd = RTP_FIXED_HEADER_BYTES + maxBytesPer20Ms;
    this.#packet = new Uint8Array(payloadEnd + MAX_TRAILER_BYTES);
    this.#payload = this.#packet.subarray(RTP_FIXED_HEADER_BYTES, payloadEnd);
  }

  /**
   * Queues digits.
   *
   * @returns Resolves when they are sent, with all that were queued before.
   * @throws {CallwayError} `dtmf_unsupported`, `dtmf_digit_invalid`, `dtmf_too_many_digits`; rejects with
   *   `dtmf_interrupted` when the stream ends before.
   */
  sendDigits(digits: string): Promise<void> {
    if (this.dtmf === undefined) {
      throw new CallwayError(
        'conflict',
        'dtmf_unsupported',
        'the peer takes no DTMF digits as telephone events',
      );
    }
    this.#digits.send(digits);
    return new Promise((resolve, reject) => {
      this.#pendingDigits.push({ resolve, reject });
    });
  }

  /** Sends a bridged call's digit, unless the peer takes none or the queue is full. */
  forwardDigit(digit: string): void {
    if (this.dtmf !== undefined && this.#digits.hasRoom) this.#digits.send(digit);
  }

  /** Resolves `sendDigits` when the queue is empty. */
  settleDigits(): void {
    if (this.#pendingDigits.length === 0 || this.#digits.isActive) return;
    for (const { resolve } of this.#pendingDigits.splice(0)) resolve();
  }

  interruptDigits(reason: string): void {
    const error = new CallwayError(
      'conflict',
      'dtmf_interrupted',
      `not all DTMF digits were sent: ${reason}`,
    );
    for (const { reject } of this.#pendingDigits.splice(0)) reject(error);
  }

  /** Sends this frame's packet of a DTMF event. @returns False when there is none, and audio may be sent. */
  sendDtmf(): boolean {
    if (this.dtmf === undefined) return false;
    const { payloadType, rtpClockRateHz } = this.dtmf;
    const event = this.#digits.next(this.packetizer.timestamp, rtpClockRateHz, this.#payload);
    if (event === undefined) return false;
    this.#sendPacket(payloadType, event.lengthBytes, event.marker, event.timestamp);
    this.#isTalkspurtStart = true;
    return true;
  }

  /** @param frame - 20 ms at the codec's rate. Silence is sent as well, so that carriers see that the call is alive. */
  sendAudio(frame: Int16Array): void {
    const lengthBytes = this.#codec.encode(frame, this.#payload);
    this.#sendPacket(this.payloadType, lengthBytes, this.#isTalkspurtStart, this.packetizer.timestamp);
    this.#isTalkspurtStart = false;
  }

  /** Advances the media clock without packets. */
  skip(frames: number): void {
    this.packetizer.advance(frames * this.#frameTicks);
    this.#isTalkspurtStart = true;
  }

  #sendPacket(payloadType: number, payloadBytes: number, marker: boolean, timestamp: number): void {
    const plainBytes = this.packetizer.write(this.#packet, payloadType, payloadBytes, marker, timestamp);
    this.packetizer.advance(this.#frameTicks);
    const lengthBytes = this.srtp?.protect(this.#packet, plainBytes) ?? plainBytes;
    this.#send(this.#packet.subarray(0, lengthBytes));
  }
}
