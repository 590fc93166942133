import { expect, test } from 'vitest';
import { createSpectralFolding } from '../../../offline/recognition/spectralFolding.ts';

const RATE_HZ = 16_000;

function level(samples: Int16Array, hz: number): number {
  let [real, imaginary] = [0, 0];
  for (const [n, sample] of samples.entries()) {
    real += sample * Math.cos((2 * Math.PI * hz * n) / RATE_HZ);
    imaginary += sample * Math.sin((2 * Math.PI * hz * n) / RATE_HZ);
  }
  return (2 * Math.hypot(real, imaginary)) / samples.length;
}

test('Spectral folding mirrors the lower band into the upper one at half its level, across chunks', () => {
  const tone = Int16Array.from({ length: RATE_HZ }, (_, n) =>
    Math.round(8000 * Math.sin((2 * Math.PI * 1000 * n) / RATE_HZ)),
  );
  const fold = createSpectralFolding();
  for (let start = 0; start < tone.length; start += 161) fold(tone.subarray(start, start + 161));

  expect(level(tone, 1000)).toBeCloseTo(8000, -1);
  expect(level(tone, 7000)).toBeCloseTo(4000, -1);
  expect(level(tone, 3000)).toBeLessThan(5);
});

test('Spectral folding clips instead of wrapping', () => {
  const samples = Int16Array.from([30_000, 30_000, -30_000, -30_000]);
  createSpectralFolding()(samples);
  expect([...samples]).toEqual([15_000, 32_767, -15_000, -32_768]);
});
