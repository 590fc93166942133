import { concatenated } from '../../src/media/pcm16.ts';
import { atRate, type SampleRateHz } from '../../src/media/resample/resampler.ts';
import { createLocalTextToSpeech, FLITE_SAMPLE_RATE_HZ } from '../../src/vendors/local/textToSpeech.ts';
import { arrayFromAsync } from './arrayFromAsync.ts';

/** Synthesizes a text with flite, with 100 ms of silence before and after. */
export async function synthesizeSpeech(
  text: string,
  sampleRateHz: SampleRateHz,
  voice = 'rms',
): Promise<Int16Array> {
  const flite = createLocalTextToSpeech({ threads: 1, voice });
  try {
    const chunks = await arrayFromAsync(flite.synthesize({ text }, new AbortController().signal));
    const quiet = new Int16Array(FLITE_SAMPLE_RATE_HZ / 10);
    return atRate(concatenated([quiet, ...chunks, quiet]), FLITE_SAMPLE_RATE_HZ, sampleRateHz);
  } finally {
    await flite.close();
  }
}
