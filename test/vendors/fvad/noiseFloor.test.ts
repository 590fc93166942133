import { describe, expect, test } from 'vitest';
import { createNoiseFloor } from '../../../src/vendors/fvad/noiseFloor.ts';
import { type LineNoise, lineNoise } from '../../support/lineNoise.ts';

const RATE_HZ = 8000;
const SECOND = RATE_HZ;

/** For each frame, whether it rises above the floor. */
function exceeding(samples: Int16Array, sampleRateHz = RATE_HZ): boolean[] {
  const floor = createNoiseFloor(sampleRateHz);
  const length = sampleRateHz / 50;
  return Array.from({ length: Math.floor(samples.length / length) }, (_, n) => {
    floor.push(samples.subarray(n * length, (n + 1) * length));
    return floor.isExceeded();
  });
}

/** When it became certain of noise, and of how much. */
function certainties(samples: Int16Array) {
  const floor = createNoiseFloor(RATE_HZ);
  const told: { readonly atMs: number; readonly noiseMs: number }[] = [];
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    floor.push(samples.subarray(at, at + 160));
    if (floor.certainMs() > 0) told.push({ atMs: (at + 160) / 8, noiseMs: floor.certainMs() });
  }
  return told;
}

const count = (frames: readonly boolean[]) => frames.filter(Boolean).length;

/** A tone with this amplitude in each segment of the given length in milliseconds. */
function tones(stretches: readonly (readonly [ms: number, amplitude: number])[], sampleRateHz = RATE_HZ) {
  const samples = stretches.flatMap(([ms, amplitude]) =>
    Array.from({ length: (ms * sampleRateHz) / 1000 }, (_, n) =>
      Math.round(amplitude * Math.sin((2 * Math.PI * 500 * n) / sampleRateHz)),
    ),
  );
  return Int16Array.from(samples);
}

/** Syllables of 160 ms at 0.7 to 1 of the amplitude, with 60 ms at a tenth of it between them. */
const syllables = (amplitude: number, count = 8): (readonly [number, number])[] =>
  Array.from({ length: count }, (_, n) => [
    [160, amplitude * (n % 2 === 0 ? 1 : 0.7)] as const,
    [60, amplitude / 10] as const,
  ]).flat();

describe('Noise', () => {
  test.each<LineNoise>(['white', 'pink', 'hum', 'fan'])('%s never counts as speech', (kind) => {
    for (const seed of [1, 2, 3])
      expect(count(exceeding(lineNoise(kind, { rms: 400, seed, samples: 6 * SECOND })))).toBe(0);
  });

  test.each<LineNoise>(['white', 'pink', 'hum', 'fan'])(
    '%s never counts as speech after a dropout',
    (kind) => {
      for (const dropoutMs of [20, 60, 160, 300, 500]) {
        const samples = lineNoise(kind, { rms: 400, seed: dropoutMs, samples: 6 * SECOND });
        for (const atMs of [700, 1300, 1900, 3500]) samples.fill(0, atMs * 8, (atMs + dropoutMs) * 8);
        // Of a fan, two at each edge of a dropout; it was ten to thirty while dropouts counted as quiet.
        expect(count(exceeding(samples))).toBeLessThanOrEqual(8);
      }
    },
  );

  test.each([
    ['white', 320],
    ['pink', 320],
    ['hum', 320],
    ['fan', 500],
  ] as const)('%s that begins all at once is known for it after %i ms', (kind, ms) => {
    for (const seed of [1, 2, 3]) {
      const noise = lineNoise(kind, { rms: 400, seed, samples: 4 * SECOND });
      const line = lineNoise('white', { rms: 10, seed, samples: SECOND });
      const frames = exceeding(Int16Array.from([...line, ...noise]));
      expect(count(frames.slice(50))).toBeGreaterThan(10);
      expect(count(frames.slice(50 + ms / 20))).toBe(0);
    }
  });
});

describe('Certain speech', () => {
  test.each([
    ['white', 460],
    ['pink', 460],
    ['hum', 460],
    ['fan', 660],
  ] as const)('that %s was noise from its beginning comes once, after %i ms', (kind, ms) => {
    for (const seed of [1, 2, 3]) {
      const noise = lineNoise(kind, { rms: 400, seed, samples: 2 * SECOND });
      const told = certainties(Int16Array.from([...new Int16Array(SECOND), ...noise])).filter(
        ({ atMs }) => atMs > 1000,
      );
      expect(told.length).toBeGreaterThanOrEqual(1);
      expect(told[0]?.atMs).toBeLessThanOrEqual(1000 + ms + 40);
      expect(told[0]?.noiseMs).toBeLessThanOrEqual(ms);
    }
  });

  test('is not detected in single syllables or a vowel of 400 ms', () => {
    const told = certainties(tones([[1000, 0], ...syllables(3000), [400, 3000], [200, 0]]));
    expect(told.filter(({ atMs }) => atMs > 1000)).toEqual([]);
  });
});

describe('Speech', () => {
  test.each([8000, 16_000])(
    'stands out of silence at %i Hz, however soft, syllable by syllable',
    (rateHz) => {
      for (const amplitude of [100, 1000, 10_000]) {
        const frames = exceeding(tones([[1000, 0], ...syllables(amplitude)], rateHz), rateHz);
        expect(count(frames.slice(50))).toBeGreaterThanOrEqual(8 * 8);
      }
    },
  );

  test('that comes before any noise is detected from its second syllable on', () => {
    expect(count(exceeding(tones(syllables(3000))).slice(11))).toBeGreaterThanOrEqual(7 * 8);
  });

  test('is detected at 10 dB above a hiss, and not below a hiss of its own level', () => {
    const shares = [10, 0].map((overDb) => {
      const words = tones([[2000, 0], ...syllables(400 * Math.SQRT2 * 10 ** (overDb / 20))]);
      const hiss = lineNoise('white', { rms: 400, seed: 1, samples: words.length });
      const frames = exceeding(words.map((sample, n) => sample + (hiss[n] ?? 0)));
      return count(frames.slice(100)) / 64;
    });
    expect(shares[0]).toBeGreaterThan(0.8);
    expect(shares[1]).toBeLessThan(0.2);
  });

  test('is detected at once after a loud line has become silent', () => {
    const frames = exceeding(tones([[3000, 6000], [600, 0], ...syllables(200)]));
    expect(count(frames.slice(180))).toBeGreaterThanOrEqual(8 * 8);
  });
});

test('Noise that an automatic gain amplifies in a pause stays noise', () => {
  const hiss = lineNoise('white', { rms: 100, seed: 1, samples: 6 * SECOND });
  // 6 dB in a second.
  const risen = hiss.map((sample, n) => Math.min(32_000, sample * 2 ** (n / SECOND)));
  expect(count(exceeding(risen))).toBe(0);
});
