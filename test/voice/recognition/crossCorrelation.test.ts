import { expect, test } from 'vitest';

import { createCrossCorrelator } from '../../../src/voice/recognition/crossCorrelation.ts';
import { createRandom } from '../../media/support/signals.ts';

/** The definition. */
function sumsOfProducts(window: Float64Array, past: Float64Array, offsets: number): number[] {
  return Array.from({ length: offsets }, (_, from) =>
    window.reduce((sum, sample, n) => sum + sample * (past[from + n] ?? 0), 0),
  );
}

test.each([
  { windowLength: 800, offsets: 2001 },
  { windowLength: 3, offsets: 2 },
  { windowLength: 1, offsets: 1 },
  { windowLength: 5, offsets: 64 },
  { windowLength: 129, offsets: 128 },
  { windowLength: 1, offsets: 4097 },
])('A window of $windowLength samples is correlated at $offsets offsets', ({ windowLength, offsets }) => {
  const random = createRandom(windowLength + offsets);
  const correlator = createCrossCorrelator(windowLength, offsets);
  for (let round = 0; round < 2; round++) {
    const window = Float64Array.from({ length: windowLength }, () => random() * 2 - 1);
    const past = Float64Array.from({ length: windowLength + offsets - 1 }, () => random() * 2 - 1);
    const found = correlator.correlate(window, past);
    expect(found).toHaveLength(offsets);
    for (const [from, sum] of sumsOfProducts(window, past, offsets).entries())
      expect(found[from]).toBeCloseTo(sum, 9);
  }
});
