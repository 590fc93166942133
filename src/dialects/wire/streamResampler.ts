import { createResampler, type SampleRateHz } from '../../media/resample/resampler.ts';

const FRAMES_PER_SECOND = 50;

/** Resamples chunks of any length. @returns A new array for each chunk, or the chunk where the rates are the same. */
export function streamResampler(from: SampleRateHz, to: SampleRateHz): (samples: Int16Array) => Int16Array {
  if (from === to) return (samples) => samples;
  const maxInput = from / FRAMES_PER_SECOND;
  const resampler = createResampler(from, to, maxInput);
  const part = new Int16Array(resampler.maxOutput(maxInput));
  return (samples) => {
    const parts = Math.ceil(samples.length / maxInput);
    const output = new Int16Array(parts * part.length);
    let length = 0;
    for (let start = 0; start < samples.length; start += maxInput) {
      const count = resampler.process(samples.subarray(start, start + maxInput), part);
      output.set(part.subarray(0, count), length);
      length += count;
    }
    return output.subarray(0, length);
  };
}
