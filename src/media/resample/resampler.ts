import { createRationalStage } from './rationalStage.ts';
import { createDownsampler, createUpsampler, type Stage } from './stage.ts';

/** Rates of speech: narrowband, wideband, speech synthesis, Opus. */
export const SAMPLE_RATES_HZ = [8000, 16_000, 24_000, 48_000] as const;
export type SampleRateHz = (typeof SAMPLE_RATES_HZ)[number];

/** Changes the sample rate of a stream. Takes the stream's chunks in order. */
export interface Resampler {
  readonly inputRateHz: SampleRateHz;
  readonly outputRateHz: SampleRateHz;
  /**
   * @param input - The samples, at most `maxInput`.
   * @returns The number of samples written to `output`.
   * @throws {RangeError} When the input is longer, or `output` smaller than `maxOutput`.
   */
  process(input: Int16Array, output: Int16Array): number;
  /** Returns the room that `output` needs. */
  maxOutput(inputLength: number): number;
}

type Step = 'up2' | 'up3' | 'down2' | 'down3' | '3/2' | '2/3';

/** The shortest chain from rate to rate; up before down, to keep the band until the last step. */
const STEPS: Readonly<Record<`${SampleRateHz}>${SampleRateHz}`, readonly Step[]>> = {
  '8000>8000': [],
  '8000>16000': ['up2'],
  '8000>24000': ['up3'],
  '8000>48000': ['up2', 'up3'],
  '16000>8000': ['down2'],
  '16000>16000': [],
  '16000>24000': ['3/2'],
  '16000>48000': ['up3'],
  '24000>8000': ['down3'],
  '24000>16000': ['2/3'],
  '24000>24000': [],
  '24000>48000': ['up2'],
  '48000>8000': ['down3', 'down2'],
  '48000>16000': ['down3'],
  '48000>24000': ['down2'],
  '48000>48000': [],
};

/** The rate that telephony, recordings and agents use: 8 kHz for a narrowband codec, 16 kHz for any other. */
export function speechRateHz(codecRateHz: number): 8000 | 16_000 {
  return codecRateHz <= 8000 ? 8000 : 16_000;
}

export function isSampleRate(rateHz: number): rateHz is SampleRateHz {
  return SAMPLE_RATES_HZ.some((rate) => rate === rateHz);
}

/**
 * Builds a chain of short half-band and third-band filters. Speech passes up to 0.425 of the lower rate within 0.5 dB,
 * images and aliases from 0.575 are 60 dB down, and aliases between stay above the telephone band.
 *
 * @param maxInput - Most samples in one call of `process`; all memory is allocated here.
 */
export function createResampler(
  inputRateHz: SampleRateHz,
  outputRateHz: SampleRateHz,
  maxInput: number,
): Resampler {
  const stages: Stage[] = [];
  const between: Int16Array[] = [];
  let length = maxInput;
  for (const step of STEPS[`${inputRateHz}>${outputRateHz}`]) {
    const stage = createStage(step, length);
    length = stage.maxOutput(length);
    stages.push(stage);
    between.push(new Int16Array(length));
  }
  const maxOutput = (inputLength: number) =>
    stages.reduce((count, stage) => stage.maxOutput(count), inputLength);
  return {
    inputRateHz,
    outputRateHz,
    maxOutput,
    process(input, output) {
      if (input.length > maxInput)
        throw new RangeError(`${input.length} samples are more than the maximum of ${maxInput}`);
      if (output.length < maxOutput(input.length)) throw new RangeError('the resampled chunk does not fit');
      let samples = input;
      let count = input.length;
      for (let n = 0; n < stages.length; n++) {
        const target = n === stages.length - 1 ? output : (between[n] ?? output);
        count = stages[n]?.process(samples, count, target) ?? 0;
        samples = target;
      }
      if (stages.length === 0) output.set(input);
      return count;
    },
  };
}

/** Resamples a whole clip; the filters' delay is cut off at its end. */
export function atRate(samples: Int16Array, fromHz: SampleRateHz, toHz: SampleRateHz): Int16Array {
  if (fromHz === toHz) return samples;
  const resampler = createResampler(fromHz, toHz, samples.length);
  const output = new Int16Array(resampler.maxOutput(samples.length));
  return output.subarray(0, resampler.process(samples, output));
}

function createStage(step: Step, maxInput: number): Stage {
  if (step === '3/2') return createRationalStage(3, 2, maxInput);
  if (step === '2/3') return createRationalStage(2, 3, maxInput);
  const factor = step.endsWith('2') ? 2 : 3;
  return step.startsWith('up') ? createUpsampler(factor, maxInput) : createDownsampler(factor, maxInput);
}
