import type { SampleRateHz } from '../resample/resampler.ts';

/** What telephony, recordings and the engine work at, whatever the codec has. */
export function telephoneRate(codecRateHz: SampleRateHz): 8000 | 16_000 {
  return codecRateHz === 8000 ? 8000 : 16_000;
}
