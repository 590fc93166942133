const BUCKET_MS = 0.25;
/** The longest delay with its own bucket. Longer ones count in the last bucket. */
const LIMIT_MS = 100;
const BUCKETS = LIMIT_MS / BUCKET_MS + 1;

/** Counts delays in steps of a quarter of a millisecond. */
export class DelayHistogram {
  readonly #counts = new Float64Array(BUCKETS);
  #total = 0;
  #maxMs = 0;

  add(delayMs: number, count = 1): void {
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor(delayMs / BUCKET_MS)));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    this.#total += count;
    this.#maxMs = Math.max(this.#maxMs, delayMs);
  }

  get total(): number {
    return this.#total;
  }

  /** The counts by quarters of a millisecond; the last bucket counts all longer delays. The array is a copy. */
  get counts(): Float64Array {
    return this.#counts.slice();
  }

  get maxMs(): number {
    return this.#maxMs;
  }

  /**
   * @param share - The share of delays, 0..1, such as 0.99.
   * @returns The delay that this share stayed within, rounded up to a bucket's end, at most the longest; 0 when empty.
   */
  percentileMs(share: number): number {
    return Math.min(this.#maxMs, percentileOf(this.#counts, share));
  }
}

/**
 * A percentile of a histogram's counts, or of the difference of two.
 *
 * @returns Milliseconds, rounded up to a bucket's end.
 */
export function percentileOf(counts: Float64Array, share: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return 0;
  let left = share * total;
  const bucket = counts.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return ((bucket < 0 ? counts.length - 1 : bucket) + 1) * BUCKET_MS;
}
