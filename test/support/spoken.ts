import { atRate, type SampleRateHz } from '../../src/media/resample/resampler.ts';
import { createFlite, FLITE_RATE_HZ } from '../../src/providers/local/flite.ts';
import { collect } from './collect.ts';

/** Speaks a text by flite, at the wanted rate, with a little quiet before and after. */
export async function spoken(text: string, sampleRateHz: SampleRateHz, voice = 'rms'): Promise<Int16Array> {
  const flite = createFlite({ threads: 1 });
  try {
    const chunks = await collect(flite.synthesize({ text, voice }, new AbortController().signal));
    const quiet = new Int16Array(FLITE_RATE_HZ / 10);
    return atRate(joined([quiet, ...chunks, quiet]), FLITE_RATE_HZ, sampleRateHz);
  } finally {
    await flite.close();
  }
}

export function joined(chunks: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
