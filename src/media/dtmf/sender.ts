import { invalid } from '../../base/errors.ts';
import { FRAME_MS } from '../codecs/codec.ts';
import { codeOf, writeTelephoneEvent } from './event.ts';

/** A telephone-event packet; valid until the next call of `next`. */
export interface OutgoingEvent {
  readonly lengthBytes: number;
  /** The timestamp of the event's start, the same in all its packets. */
  readonly timestamp: number;
  /** True for the first packet of an event. */
  readonly marker: boolean;
}

/** ITU-T Q.24 asks receivers for 40 ms; old exchanges need more. In frames of 20 ms, as is the pause after it. */
const TONE_FRAMES = 5;
const PAUSE_FRAMES = 5;
/** Below 0 dBm0, as phones send it. */
const VOLUME_DB = 10;
/** The last packet is repeated, since the end of the digit depends on it. @see RFC 4733 section 2.5.1.4 */
const END_PACKETS = 3;
const MAX_QUEUED_DIGITS = 256;

/**
 * Sends digits as telephone events: one packet in place of each audio frame for the length of the tone, the end three
 * times, then a pause. The media clock advances; an event keeps the timestamp of its start.
 *
 * @see RFC 4733 section 2.5.1
 */
export class DtmfSender {
  readonly #queue: number[] = [];
  #code = -1;
  #startTimestamp = 0;
  #frames = 0;
  #endPacketsLeft = 0;
  #pauseFramesLeft = 0;
  readonly #outgoing = { lengthBytes: 0, timestamp: 0, marker: false };

  /**
   * Queues digits; all of them or none.
   *
   * @throws {CallwayError} `dtmf_digit_invalid` for anything but 0-9, *, #, A-D; `dtmf_too_many_digits` above 256.
   */
  send(digits: string): void {
    const codes = [...digits].map((digit) => {
      const code = codeOf(digit);
      if (code !== undefined) return code;
      throw invalid('dtmf_digit_invalid', `'${digit}' is not a DTMF digit; send 0-9, *, #, A-D`);
    });
    if (this.#queue.length + codes.length > MAX_QUEUED_DIGITS) {
      throw invalid('dtmf_too_many_digits', `no more than ${MAX_QUEUED_DIGITS} digits can wait at once`);
    }
    this.#queue.push(...codes);
  }

  /** True when one more digit can be queued. */
  get hasRoom(): boolean {
    return this.#queue.length < MAX_QUEUED_DIGITS;
  }

  /** True when a digit is being sent or queued. */
  get isActive(): boolean {
    return this.#code >= 0 || this.#queue.length > 0;
  }

  /**
   * Writes the next packet of an event. It must be called once per frame.
   *
   * @param timestamp - RTP timestamp of this frame, by the clock of the audio.
   * @param rtpClockRateHz - The clock rate of the event's payload type, in which its duration is counted.
   * @returns The packet in place of audio, its payload written to `out`; undefined when audio may be sent.
   */
  next(timestamp: number, rtpClockRateHz: number, out: Uint8Array): OutgoingEvent | undefined {
    if (this.#code < 0) {
      if (this.#pauseFramesLeft > 0) {
        this.#pauseFramesLeft--;
        return undefined;
      }
      const code = this.#queue.shift();
      if (code === undefined) return undefined;
      this.#start(code, timestamp);
    }
    return this.#writePacket(rtpClockRateHz, out);
  }

  #start(code: number, timestamp: number): void {
    this.#code = code;
    this.#startTimestamp = timestamp;
    this.#frames = 0;
    this.#endPacketsLeft = END_PACKETS;
  }

  #writePacket(rtpClockRateHz: number, out: Uint8Array): OutgoingEvent {
    const marker = this.#frames === 0;
    this.#frames = Math.min(this.#frames + 1, TONE_FRAMES);
    const isEnd = this.#frames === TONE_FRAMES;
    const durationTicks = (this.#frames * FRAME_MS * rtpClockRateHz) / 1000;
    const event = { code: this.#code, isEnd, volumeDb: VOLUME_DB, durationTicks };
    this.#outgoing.lengthBytes = writeTelephoneEvent(event, out);
    this.#outgoing.timestamp = this.#startTimestamp;
    this.#outgoing.marker = marker;
    if (isEnd && --this.#endPacketsLeft === 0) {
      this.#code = -1;
      this.#pauseFramesLeft = PAUSE_FRAMES - (END_PACKETS - 1);
    }
    return this.#outgoing;
  }
}
