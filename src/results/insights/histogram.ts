/** Buckets of equal ratio: the first one holds all up to `firstMs`, the last one all beyond. */
export interface Buckets {
  readonly firstMs: number;
  readonly ratio: number;
  readonly count: number;
}

/** The table's columns have as many. A percentile is within 5 % from 10 ms to 86 s, and within 5 ms below. */
export const LATENCY_BUCKETS: Buckets = { firstMs: 10, ratio: 1.1, count: 96 };
/** How long sessions stay at a node: within 10 % from 100 ms to 2.7 h. */
export const STAY_BUCKETS: Buckets = { firstMs: 100, ratio: 1.2, count: 64 };

/** Counts by bucket; buckets without one are left out. */
export type Histogram = Readonly<Record<number, number>>;

export function bucketOf(ms: number, { firstMs, ratio, count }: Buckets): number {
  if (!(ms > firstMs)) return 0;
  return Math.min(count - 1, Math.ceil(Math.log(ms / firstMs) / Math.log(ratio)));
}

/** Returns the most that a bucket holds, in milliseconds. */
export function edgeOf(bucket: number, { firstMs, ratio }: Buckets): number {
  return firstMs * ratio ** bucket;
}

/** Counts values by bucket. */
export function histogramOf(values: readonly number[], buckets: Buckets): Histogram {
  const counts: Record<number, number> = {};
  for (const value of values) {
    const bucket = bucketOf(value, buckets);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

/**
 * Returns a percentile of what was counted: the middle of its bucket, in milliseconds.
 *
 * @param counts - By bucket.
 * @param share - 0 to 1.
 * @returns Null when nothing was counted.
 */
export function percentile(counts: readonly number[], share: number, buckets: Buckets): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return null;
  let passed = 0;
  const found = counts.findIndex((count) => {
    passed += count;
    return passed >= share * total;
  });
  const { firstMs, ratio } = buckets;
  return Math.round(found === 0 ? firstMs / 2 : firstMs * ratio ** (found - 0.5));
}
