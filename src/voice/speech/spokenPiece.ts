import { isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import type { SpokenAnswer } from '../../models/ports/chatModel.ts';
import { resamplerTo } from './speechSynthesis.ts';

/** What a model says itself in one answer: its samples at the stream's rate, and how much of them was heard. */
export class SpokenPiece {
  readonly #speech: SpokenAnswer;
  readonly #sampleRateHz: SampleRateHz;
  #start = 0;
  /** Silence at its beginning that is not played. */
  #skipped = 0;
  #played = 0;
  #isComplete = false;
  #isTruncated = false;

  /** @throws {RangeError} When speech cannot be resampled to this rate. */
  constructor(speech: SpokenAnswer, sampleRateHz: number) {
    if (!isSampleRate(sampleRateHz)) throw new RangeError(`speech cannot be resampled to ${sampleRateHz} Hz`);
    this.#speech = speech;
    this.#sampleRateHz = sampleRateHz;
  }

  /** @param start - Samples of the answer before it. */
  begin(start: number): void {
    this.#start = start;
  }

  /** Reports that of `given` samples, `played` were played. */
  played(given: number, played: number): void {
    this.#skipped += given - played;
    this.#played += played;
  }

  /** @param onSamples - Awaited before the next samples are taken. */
  async play(
    signal: AbortSignal,
    onSamples: (samples: Int16Array, provider: string) => Promise<void>,
  ): Promise<void> {
    const { provider, sampleRateHz } = this.#speech;
    const ready: Int16Array[] = [];
    const resample = resamplerTo(this.#sampleRateHz, sampleRateHz, (samples) => ready.push(samples));
    for await (const samples of this.#speech.samples(signal)) {
      resample(samples);
      for (const piece of ready.splice(0)) await onSamples(piece, provider);
    }
    this.#isComplete = !signal.aborted;
  }

  /** The answer was stopped. @param position - Samples of the answer that were heard. */
  truncate(position: number): void {
    if (this.#isTruncated) return;
    this.#isTruncated = true;
    const heard = Math.min(Math.max(0, position - this.#start), this.#played);
    if (this.#isComplete && heard === this.#played) return;
    this.#speech.truncate(heard === 0 ? 0 : ((heard + this.#skipped) * 1000) / this.#sampleRateHz);
  }
}
