import { FRAME_DURATION_MS } from '../codecs/codec.ts';
import { lengthen, shorten } from './timeScale.ts';

/** Slack beyond which speech is shortened: over a frame more than needed, since frames are pulled whole. */
const SHORTEN_FROM_MS = FRAME_DURATION_MS + 5;
/** Slack below which speech is lengthened. */
const LENGTHEN_FROM_MS = 0;
/** Slack at which a joint that may be heard is better than the delay. */
const URGENT_MS = 60;
/** Least time between two changes, unless urgent. */
const INTERVAL_MS = 100;

/** Plays a little faster or slower when the slack has left its bounds: a pitch period at a time is taken out or put in. */
export class SpeedControl {
  /** In all. */
  shortenedMs = 0;
  lengthenedMs = 0;
  readonly #sampleRateHz: number;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz;
  }

  /**
   * @param room - Begins with a packet's samples, and has as much room again behind them; changed in place.
   * @param slackMs - How long the packet lay ready beyond what was needed; negative when it came late.
   * @returns The new length.
   */
  adjust(room: Int16Array, length: number, slackMs: number, nowMs: number): number {
    const isUrgent = slackMs > URGENT_MS || slackMs < -URGENT_MS;
    if (!isUrgent && nowMs - this.#lastMs < INTERVAL_MS) return length;
    const options = { sampleRateHz: this.#sampleRateHz, isUrgent };
    let scaled = length;
    if (slackMs > SHORTEN_FROM_MS) scaled = shorten(room.subarray(0, length), options);
    else if (slackMs < LENGTHEN_FROM_MS) scaled = lengthen(room, length, options);
    if (scaled === length) return length;
    this.#lastMs = nowMs;
    const changeMs = ((scaled - length) * 1000) / this.#sampleRateHz;
    if (changeMs < 0) this.shortenedMs -= changeMs;
    else this.lengthenedMs += changeMs;
    return scaled;
  }
}
