import { FRAME_MS } from '../codecs/codec.ts';
import { lengthen, shorten } from './timeScale.ts';

/** Slack above which speech is shortened: more than a frame, since frames are pulled whole. */
const SHORTEN_FROM_MS = FRAME_MS + 5;
/** Slack below which speech is lengthened. */
const LENGTHEN_FROM_MS = 0;
/** Slack that allows to play the samples between two frames sooner: more than a change of the network's estimate. */
const ADVANCE_FROM_MS = 5;
/** Slack at which an audible joint is better than the delay. */
const URGENT_MS = 60;
/** Least time between two changes, unless urgent. */
const INTERVAL_MS = 100;

/**
 * Plays a little faster or slower when the slack leaves its bounds, by removing or repeating one pitch period at a
 * time.
 */
export class SpeedControl {
  shortenedMs = 0;
  lengthenedMs = 0;
  readonly #sampleRateHz: number;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz;
  }

  /**
   * @param room - A packet's samples with as much room again behind them; changed in place.
   * @param slackMs - The time that the packet was ready beyond the network's delay; negative when it was late.
   * @param heldMs - Samples that are played before it. They only delay it, since it was needed at the frame's start.
   * @returns The new length in samples.
   */
  adjust(room: Int16Array, length: number, slackMs: number, heldMs: number, nowMs: number): number {
    const isUrgent = slackMs > URGENT_MS || slackMs < -URGENT_MS;
    if (!isUrgent && nowMs - this.#lastMs < INTERVAL_MS) return length;
    const options = { sampleRateHz: this.#sampleRateHz, isUrgent };
    const packet = room.subarray(0, length);
    let scaled = length;
    if (slackMs > SHORTEN_FROM_MS) scaled = shorten(packet, options);
    else if (slackMs < LENGTHEN_FROM_MS) scaled = lengthen(room, length, options);
    else if (slackMs > ADVANCE_FROM_MS) scaled = shorten(packet, { ...options, maxMs: heldMs });
    if (scaled === length) return length;
    this.#lastMs = nowMs;
    const changeMs = ((scaled - length) * 1000) / this.#sampleRateHz;
    if (changeMs < 0) this.shortenedMs -= changeMs;
    else this.lengthenedMs += changeMs;
    return scaled;
  }
}
