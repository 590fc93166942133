import { frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';

/**
 * Calls of one thread tick at different phases of the same clock: one frame waits as a rule, two after a late tick. Any
 * more would delay the rest of the call.
 */
const MAX_FRAMES = 3;

/** Carries frames of 20 ms from one call's tick to another's. When it is full, the oldest is lost. */
export class FrameQueue {
  #sampleRateHz: SampleRateHz;
  /** The ring of frames. */
  #frames: Int16Array;
  #first = 0;
  #count = 0;

  constructor(sampleRateHz: SampleRateHz) {
    this.#sampleRateHz = sampleRateHz;
    this.#frames = new Int16Array(MAX_FRAMES * frameLength(sampleRateHz));
  }

  get sampleRateHz(): SampleRateHz {
    return this.#sampleRateHz;
  }

  /** Adds a frame. @returns For its samples, all of which are to be written. */
  add(): Int16Array {
    if (this.#count === MAX_FRAMES) this.shift();
    const index = (this.#first + this.#count) % MAX_FRAMES;
    this.#count++;
    return this.#frame(index);
  }

  /** Removes the oldest frame. @returns Valid until the next `add`; undefined when there is none. */
  shift(): Int16Array | undefined {
    if (this.#count === 0) return undefined;
    const frame = this.#frame(this.#first);
    this.#first = (this.#first + 1) % MAX_FRAMES;
    this.#count--;
    return frame;
  }

  /** Drops all frames. */
  changeRate(sampleRateHz: SampleRateHz): void {
    if (sampleRateHz === this.#sampleRateHz) return;
    this.#sampleRateHz = sampleRateHz;
    this.#frames = new Int16Array(MAX_FRAMES * frameLength(sampleRateHz));
    this.#first = 0;
    this.#count = 0;
  }

  #frame(index: number): Int16Array {
    const length = frameLength(this.#sampleRateHz);
    return this.#frames.subarray(index * length, (index + 1) * length);
  }
}
