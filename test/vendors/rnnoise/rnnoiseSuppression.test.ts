import { expect, test } from 'vitest';
import { atRate } from '../../../src/media/resample/resampler.ts';
import { createRnnoiseSuppression } from '../../../src/vendors/rnnoise/rnnoiseSuppression.ts';
import { atLevel, lineNoise } from '../../support/lineNoise.ts';
import { synthesizeSpeech } from '../../support/synthesizedSpeech.ts';

const suppression = createRnnoiseSuppression();

async function cleaned(samples: Int16Array, sampleRateHz: number): Promise<Int16Array> {
  const suppressor = await suppression.open(sampleRateHz);
  const length = sampleRateHz / 50;
  const all = new Int16Array(samples.length - (samples.length % length));
  for (let at = 0; at < all.length; at += length)
    all.set(suppressor.process(samples.subarray(at, at + length)), at);
  suppressor.close();
  suppressor.close();
  return all;
}

const rms = (samples: Int16Array) =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length);

test.each([8000, 16_000, 24_000] as const)('Noise goes and speech stays, at %i Hz', async (sampleRateHz) => {
  const street = lineNoise('street', { rms: 1000, samples: 8000 * 3, seed: 5 });
  const speech = atLevel(await synthesizeSpeech('I would like a table for two tonight, please.', 8000), 3000);
  const quiet = await cleaned(atRate(street, 8000, sampleRateHz), sampleRateHz);
  expect(rms(quiet.subarray(sampleRateHz))).toBeLessThan(200);
  const said = await cleaned(atRate(speech, 8000, sampleRateHz), sampleRateHz);
  expect(rms(said)).toBeGreaterThan(0.7 * rms(speech));
});

test('A sample rate without a resampler is refused', async () => {
  await expect(suppression.open(11_025)).rejects.toThrow(RangeError);
});
