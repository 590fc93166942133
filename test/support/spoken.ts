import { createResampler, type SampleRateHz } from '../../src/media/resample/resampler.ts';
import { createFlite, FLITE_RATE_HZ } from '../../src/models/local/flite.ts';
import { collect } from './collect.ts';

/** Speaks a text by flite, at the wanted rate, with a little quiet before and after. */
export async function spoken(text: string, sampleRateHz: SampleRateHz, voice = 'rms'): Promise<Int16Array> {
  const flite = createFlite({ threads: 1 });
  try {
    const chunks = await collect(flite.speak({ text, voice }, new AbortController().signal));
    const quiet = new Int16Array(FLITE_RATE_HZ / 10);
    return resampled(joined([quiet, ...chunks, quiet]), FLITE_RATE_HZ, sampleRateHz);
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

function resampled(samples: Int16Array, fromHz: SampleRateHz, toHz: SampleRateHz): Int16Array {
  const resampler = createResampler(fromHz, toHz, samples.length);
  const output = new Int16Array(resampler.maxOutput(samples.length));
  return output.subarray(0, resampler.process(samples, output));
}
