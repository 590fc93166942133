import { describe, expect, test } from 'vitest';

import {
  bucketOf,
  histogramOf,
  LATENCY_BUCKETS,
  percentile,
  STAY_BUCKETS,
} from '../../../src/results/insights/histogram.ts';

const dense = (values: readonly number[], buckets = LATENCY_BUCKETS) => {
  const counts = histogramOf(values, buckets);
  return Array.from({ length: buckets.count }, (_, bucket) => counts[bucket] ?? 0);
};

describe('A histogram', () => {
  test.each([
    ['latencies', LATENCY_BUCKETS, 0.05, 10, 80_000],
    ['stays', STAY_BUCKETS, 0.1, 100, 9_000_000],
  ])('of %s has percentiles within its bound', (_what, buckets, bound, fromMs, toMs) => {
    const values = Array.from({ length: 2_000 }, (_, index) => fromMs * (toMs / fromMs) ** (index / 2_000));
    for (const share of [0.01, 0.5, 0.95, 1]) {
      const exact = values[Math.ceil(share * values.length) - 1] ?? 0;
      const found = percentile(dense(values, buckets), share, buckets) ?? 0;
      // One millisecond for rounding.
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * bound + 1);
    }
  });

  test.each([
    [-5, 0],
    [0, 0],
    [10, 0],
    [10.01, 1],
    [11, 1],
    [11.1, 2],
    [1e12, 95],
    [Number.NaN, 0],
  ])('takes %s ms into bucket %i', (ms, bucket) => {
    expect(bucketOf(ms, LATENCY_BUCKETS)).toBe(bucket);
  });

  test('of nothing has no percentile', () => {
    expect(percentile(dense([]), 0.5, LATENCY_BUCKETS)).toBeNull();
  });
});
