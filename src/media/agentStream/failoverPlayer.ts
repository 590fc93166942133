import { createFrameResampler, type FrameResampler, frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import type { FailoverPrompts } from './streamClient.ts';

/** A shorter break is a pause that needs no prompt. */
const SILENCE_MS = 700;
/** Between the end of the prompt, or of a tone, and the next tone. */
const TONE_INTERVAL_MS = 3000;
const MAX_PROMPT_SECONDS = 10;
const TONE_RATE_HZ = 8000;
const TONE_MS = 200;
const TONE_HZ = 425;
/** 27 dB below full scale: audible, and not disturbing. */
const TONE_PEAK = 1500;

interface Clip {
  readonly samples: Int16Array;
  readonly resampler: FrameResampler;
  readonly frame: Int16Array;
  offset: number;
}

/**
 * Audio for the caller while no agent is connected: the waiting prompt of the lost agent once, then a soft tone every
 * three seconds; the tone alone without a prompt. Time is an argument, on a monotonic clock.
 */
export class FailoverPlayer {
  #codecRateHz: SampleRateHz;
  #prompts: (FailoverPrompts & { readonly sampleRateHz: SampleRateHz }) | undefined;
  #clip: Clip | undefined;
  /** When the next clip is due; undefined while an agent is connected. */
  #dueMs: number | undefined;
  #hasPlayedPrompt = false;
  #onApologyEnd: (() => void) | undefined;

  constructor(codecRateHz: SampleRateHz) {
    this.#codecRateHz = codecRateHz;
  }

  /** @param prompts - Copied, up to ten seconds each. */
  keep({ waiting, apology }: FailoverPrompts, sampleRateHz: SampleRateHz): void {
    const maxSamples = MAX_PROMPT_SECONDS * sampleRateHz;
    this.#prompts = {
      waiting: waiting.slice(0, maxSamples),
      apology: apology.slice(0, maxSamples),
      sampleRateHz,
    };
  }

  /** The call has another codec from now on. */
  changeRate(codecRateHz: SampleRateHz): void {
    this.#codecRateHz = codecRateHz;
    if (this.#clip === undefined) return;
    const { samples, resampler, offset } = this.#clip;
    this.#clip = { ...this.#toClip(samples, resampler.inputRateHz), offset };
  }

  /** The agent is lost, or could not be connected. Idempotent. */
  start(nowMs: number): void {
    if (this.#dueMs !== undefined) return;
    this.#dueMs = nowMs + SILENCE_MS;
    this.#hasPlayedPrompt = false;
  }

  /** An agent is connected. The current clip plays to its end, unless it is interrupted. */
  stop(): void {
    this.#dueMs = undefined;
  }

  /** The agent speaks. */
  interrupt(): void {
    this.#clip = undefined;
  }

  /** @returns Resolves when the apology has been played, or the call has ended; at once without an apology. */
  playApology(): Promise<void> {
    this.#dueMs = undefined;
    if (this.#prompts === undefined || this.#prompts.apology.length === 0) return Promise.resolve();
    this.#clip = this.#toClip(this.#prompts.apology, this.#prompts.sampleRateHz);
    return new Promise((resolve) => {
      this.#onApologyEnd = resolve;
    });
  }

  /** @param frame - 20 ms at the codec's rate; left as it is when nothing plays. @returns Whether something plays. */
  pull(frame: Int16Array, nowMs: number): boolean {
    if (this.#clip === undefined && this.#dueMs !== undefined && nowMs >= this.#dueMs) this.#startClip(nowMs);
    const clip = this.#clip;
    if (clip === undefined) return false;
    const { samples, offset } = clip;
    clip.offset += clip.frame.length;
    clip.frame.fill(0).set(samples.subarray(offset, clip.offset));
    frame.set(clip.resampler.process(clip.frame));
    if (clip.offset >= samples.length) this.#endClip();
    return true;
  }

  /** The call has ended. */
  close(): void {
    this.#dueMs = undefined;
    this.#endClip();
  }

  #startClip(nowMs: number): void {
    const prompts = this.#hasPlayedPrompt ? undefined : this.#prompts;
    this.#hasPlayedPrompt = true;
    this.#clip =
      prompts === undefined || prompts.waiting.length === 0
        ? this.#toClip(createTone(), TONE_RATE_HZ)
        : this.#toClip(prompts.waiting, prompts.sampleRateHz);
    const { samples, resampler } = this.#clip;
    this.#dueMs = nowMs + (samples.length * 1000) / resampler.inputRateHz + TONE_INTERVAL_MS;
  }

  #toClip(samples: Int16Array, sampleRateHz: SampleRateHz): Clip {
    const resampler = createFrameResampler(sampleRateHz, this.#codecRateHz);
    return { samples, resampler, frame: new Int16Array(frameLength(sampleRateHz)), offset: 0 };
  }

  #endClip(): void {
    this.#clip = undefined;
    this.#onApologyEnd?.();
    this.#onApologyEnd = undefined;
  }
}

/** Rises and falls smoothly, so that it does not click. */
function createTone(): Int16Array {
  const length = (TONE_MS * TONE_RATE_HZ) / 1000;
  return Int16Array.from({ length }, (_, n) => {
    const envelope = Math.sin((Math.PI * n) / length) ** 2;
    return Math.round(TONE_PEAK * envelope * Math.sin((2 * Math.PI * TONE_HZ * n) / TONE_RATE_HZ));
  });
}
