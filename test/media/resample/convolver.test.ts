import { expect, test } from 'vitest';

import { createConvolver, sumsFor } from '../../../src/media/resample/convolver.ts';
import { createRandom } from '../support/signals.ts';

test.each([
  { taps: 1, stride: 1, from: 0, count: 1 },
  { taps: 4, stride: 1, from: 2, count: 9 },
  { taps: 28, stride: 1, from: 0, count: 160 },
  { taps: 83, stride: 3, from: 1, count: 53 },
  { taps: 55, stride: 2, from: 0, count: 7 },
  { taps: 2, stride: 3, from: 5, count: 6 },
])(
  '$taps taps at every $stride samples from $from on give $count sums of products',
  ({ taps, stride, from, count }) => {
    const random = createRandom(taps * stride);
    // Some zeros, as in polyphase filters.
    const weights = Float64Array.from({ length: taps }, (_, n) => (n % 4 === 1 ? 0 : random() * 2 - 1));
    const convolver = createConvolver(weights, stride, count);
    const sums = sumsFor(count).fill(7);
    for (let round = 0; round < 2; round++) {
      const samples = Float64Array.from({ length: from + count * stride + taps }, () => random() * 2 - 1);
      convolver.convolve(sums, samples, from, count);
      for (let n = 0; n < count; n++) {
        const sum = weights.reduce(
          (all, weight, k) => all + weight * (samples[from + n * stride + k] ?? 0),
          0,
        );
        expect(sums[n]).toBeCloseTo(sum, 12);
      }
    }
  },
);
