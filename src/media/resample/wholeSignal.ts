import { createResampler, isSampleRate, type SampleRateHz } from './resampler.ts';

/**
 * Changes the rate of a whole signal, which may have any rate of audio files. Rates that streams do not have, such as
 * 22.05 kHz, are interpolated linearly: of speech that is later played on a telephone this costs 1 dB at 4 kHz, and a
 * filter for 160 phases would hold up the thread for a tenth of a second.
 */
export function toRate(samples: Int16Array, inputRateHz: number, outputRateHz: SampleRateHz): Int16Array {
  if (inputRateHz === outputRateHz) return samples;
  if (isSampleRate(inputRateHz)) {
    const resampler = createResampler(inputRateHz, outputRateHz, samples.length);
    const output = new Int16Array(resampler.maxOutput(samples.length));
    return output.subarray(0, resampler.process(samples, output));
  }
  const step = inputRateHz / outputRateHz;
  return Int16Array.from({ length: Math.floor(samples.length / step) }, (_, n) => {
    const at = Math.floor(n * step);
    const [before = 0, after = before] = [samples[at], samples[at + 1]];
    return Math.round(before + (after - before) * (n * step - at));
  });
}
