import { invalid } from '../../base/errors.ts';
import { codeOf, MAX_EVENT_DURATION_TICKS, writeTelephoneEvent } from './event.ts';

/** A telephone-event packet; valid until the next call of `next`. */
export interface OutgoingEvent {
  readonly lengthBytes: number;
  /** Of the event's start: the same in all its packets. */
  readonly timestamp: number;
  /** Set on the first packet of an event. */
  readonly marker: boolean;
}

export interface DtmfSenderOptions {
  readonly rtpClockRateHz: number;
  /** Ticks between two calls of `next`: one frame. */
  readonly frameTicks: number;
  readonly toneMs?: number;
  /** Least silence between two digits. */
  readonly pauseMs?: number;
}

/** ITU-T Q.24 asks receivers for 40 ms; old exchanges need more. */
const DEFAULT_TONE_MS = 100;
const DEFAULT_PAUSE_MS = 100;
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
  readonly #frameTicks: number;
  readonly #toneTicks: number;
  readonly #pauseFrames: number;
  readonly #queue: number[] = [];
  #code = -1;
  #startTimestamp = 0;
  #durationTicks = 0;
  #endPacketsLeft = 0;
  #pauseFramesLeft = 0;
  readonly #outgoing = { lengthBytes: 0, timestamp: 0, marker: false };

  /** @throws {CallwayError} `dtmf_duration_invalid` when the tone does not fit the 16 bits of one event. */
  constructor(options: DtmfSenderOptions) {
    const { rtpClockRateHz, frameTicks, toneMs = DEFAULT_TONE_MS, pauseMs = DEFAULT_PAUSE_MS } = options;
    const frames = Math.ceil((toneMs * rtpClockRateHz) / 1000 / frameTicks);
    this.#frameTicks = frameTicks;
    this.#toneTicks = frames * frameTicks;
    this.#pauseFrames = Math.max(END_PACKETS, Math.ceil((pauseMs * rtpClockRateHz) / 1000 / frameTicks));
    if (!(this.#toneTicks > 0 && this.#toneTicks <= MAX_EVENT_DURATION_TICKS)) {
      const limitMs = Math.floor((MAX_EVENT_DURATION_TICKS * 1000) / rtpClockRateHz);
      throw invalid('dtmf_duration_invalid', `a DTMF tone of ${toneMs} ms is not within 1 and ${limitMs} ms`);
    }
  }

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

  /** Whether one more digit can be queued. */
  get hasRoom(): boolean {
    return this.#queue.length < MAX_QUEUED_DIGITS;
  }

  /** Whether a digit is being sent or queued. */
  get isActive(): boolean {
    return this.#code >= 0 || this.#queue.length > 0;
  }

  /**
   * Call once per frame.
   *
   * @param timestamp - RTP timestamp of this frame.
   * @returns The packet in place of audio, its payload written to `out`; undefined when audio may be sent.
   */
  next(timestamp: number, out: Uint8Array): OutgoingEvent | undefined {
    if (this.#code < 0) {
      if (this.#pauseFramesLeft > 0) {
        this.#pauseFramesLeft--;
        return undefined;
      }
      const code = this.#queue.shift();
      if (code === undefined) return undefined;
      this.#start(code, timestamp);
    }
    return this.#writePacket(out);
  }

  #start(code: number, timestamp: number): void {
    this.#code = code;
    this.#startTimestamp = timestamp;
    this.#durationTicks = 0;
    this.#endPacketsLeft = END_PACKETS;
  }

  #writePacket(out: Uint8Array): OutgoingEvent {
    const marker = this.#durationTicks === 0;
    this.#durationTicks = Math.min(this.#durationTicks + this.#frameTicks, this.#toneTicks);
    const isEnd = this.#durationTicks === this.#toneTicks;
    const event = { code: this.#code, isEnd, volumeDb: VOLUME_DB, durationTicks: this.#durationTicks };
    this.#outgoing.lengthBytes = writeTelephoneEvent(event, out);
    this.#outgoing.timestamp = this.#startTimestamp;
    this.#outgoing.marker = marker;
    if (isEnd && --this.#endPacketsLeft === 0) {
      this.#code = -1;
      this.#pauseFramesLeft = this.#pauseFrames - (END_PACKETS - 1);
    }
    return this.#outgoing;
  }
}
