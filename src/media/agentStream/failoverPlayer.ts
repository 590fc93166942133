import { createFrameResampler, type FrameResampler, frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';

/** What an engine leaves to be said in its place, at its link's rate; either may be empty. */
export interface FailoverPrompts {
  /** While another engine is sought. */
  readonly waiting: Int16Array;
  /** When none was found. */
  readonly apology: Int16Array;
}

/** A break that is mended sooner is a pause, and nobody has to be told of it. */
const SILENCE_MS = 700;
/** Between the end of the words, or of a tone, and the next tone. */
const TONE_INTERVAL_MS = 3000;
/** What somebody says who holds a line is short. */
const MAX_WORDS_SECONDS = 10;
const TONE_RATE_HZ = 8000;
const TONE_MS = 200;
const TONE_HZ = 425;
/** About 27 dB below the loudest: heard, and no disturbance. */
const TONE_PEAK = 1500;

interface Clip {
  readonly samples: Int16Array;
  readonly resampler: FrameResampler;
  readonly frame: Int16Array;
  at: number;
}

/**
 * What a caller hears while no engine is there: the words that the lost one left, once, and then a soft tone from time
 * to time; the tone alone where it left none. Time is an argument, on one clock that never goes back.
 */
export class FailoverPlayer {
  #codecRateHz: SampleRateHz;
  #words: (FailoverPrompts & { readonly sampleRateHz: SampleRateHz }) | undefined;
  #clip: Clip | undefined;
  /** When something is to be heard next; undefined while there is an engine. */
  #dueMs: number | undefined;
  #hasSpoken = false;
  #onApologised: (() => void) | undefined;

  constructor(codecRateHz: SampleRateHz) {
    this.#codecRateHz = codecRateHz;
  }

  /** @param words - Copied, as far as they are not too long. */
  keep({ waiting, apology }: FailoverPrompts, sampleRateHz: SampleRateHz): void {
    const longest = MAX_WORDS_SECONDS * sampleRateHz;
    this.#words = { waiting: waiting.slice(0, longest), apology: apology.slice(0, longest), sampleRateHz };
  }

  changeRate(codecRateHz: SampleRateHz): void {
    this.#codecRateHz = codecRateHz;
    if (this.#clip === undefined) return;
    const { samples, resampler, at } = this.#clip;
    this.#clip = { ...this.#toClip(samples, resampler.inputRateHz), at };
  }

  /** The engine is gone, or still not there. */
  begin(nowMs: number): void {
    if (this.#dueMs !== undefined) return;
    this.#dueMs = nowMs + SILENCE_MS;
    this.#hasSpoken = false;
  }

  /** An engine is there: what sounds is said to its end, unless the engine speaks before. */
  end(): void {
    this.#dueMs = undefined;
  }

  /** The engine speaks. */
  interrupt(): void {
    this.#clip = undefined;
  }

  /** @returns Resolves when the apology is out, or will not be; at once where no words were left. */
  apologise(): Promise<void> {
    this.#dueMs = undefined;
    if (this.#words === undefined || this.#words.apology.length === 0) return Promise.resolve();
    this.#clip = this.#toClip(this.#words.apology, this.#words.sampleRateHz);
    return new Promise((resolve) => {
      this.#onApologised = resolve;
    });
  }

  /**
   * @param frame - 20 ms at the codec's rate, left alone where nothing is to be heard.
   * @returns Whether something is.
   */
  pull(frame: Int16Array, nowMs: number): boolean {
    if (this.#clip === undefined && this.#dueMs !== undefined && nowMs >= this.#dueMs) this.#next(nowMs);
    const clip = this.#clip;
    if (clip === undefined) return false;
    const { samples, at } = clip;
    clip.at += clip.frame.length;
    clip.frame.fill(0).set(samples.subarray(at, clip.at));
    frame.set(clip.resampler.process(clip.frame));
    if (clip.at >= samples.length) this.#over();
    return true;
  }

  /** Nobody hears it any more. */
  close(): void {
    this.#dueMs = undefined;
    this.#over();
  }

  #next(nowMs: number): void {
    const words = this.#hasSpoken ? undefined : this.#words;
    this.#hasSpoken = true;
    this.#clip =
      words === undefined || words.waiting.length === 0
        ? this.#toClip(comfortTone(), TONE_RATE_HZ)
        : this.#toClip(words.waiting, words.sampleRateHz);
    const { samples, resampler } = this.#clip;
    this.#dueMs = nowMs + (samples.length * 1000) / resampler.inputRateHz + TONE_INTERVAL_MS;
  }

  #toClip(samples: Int16Array, sampleRateHz: SampleRateHz): Clip {
    const resampler = createFrameResampler(sampleRateHz, this.#codecRateHz);
    return { samples, resampler, frame: new Int16Array(frameLength(sampleRateHz)), at: 0 };
  }

  #over(): void {
    this.#clip = undefined;
    this.#onApologised?.();
    this.#onApologised = undefined;
  }
}

/** Rises and falls like a bell, so that it does not click. */
function comfortTone(): Int16Array {
  const length = (TONE_MS * TONE_RATE_HZ) / 1000;
  return Int16Array.from({ length }, (_, n) => {
    const envelope = Math.sin((Math.PI * n) / length) ** 2;
    return Math.round(TONE_PEAK * envelope * Math.sin((2 * Math.PI * TONE_HZ * n) / TONE_RATE_HZ));
  });
}
