const BUCKET_MS = 0.25;
/** What is later counts in the last bucket. */
const LIMIT_MS = 100;
const BUCKETS = LIMIT_MS / BUCKET_MS + 1;

/** Counts how late things happened, in steps of a quarter of a millisecond, without keeping them. */
export class DelayHistogram {
  readonly #counts = new Float64Array(BUCKETS);
  #total = 0;
  #maxMs = 0;

  /** @param count - How many things were this late together. */
  add(latenessMs: number, count = 1): void {
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor(latenessMs / BUCKET_MS)));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    this.#total += count;
    this.#maxMs = Math.max(this.#maxMs, latenessMs);
  }

  get total(): number {
    return this.#total;
  }

  /** How many were how late, by quarters of a millisecond; the last counts all that were later. A copy. */
  get counts(): Float64Array {
    return this.#counts.slice();
  }

  get maxMs(): number {
    return this.#maxMs;
  }

  /**
   * @param share - 0..1, such as 0.99.
   * @returns Lateness that this share stayed within, rounded up to a bucket's end but never above the largest seen; 0 when
   *   nothing was counted.
   */
  percentileMs(share: number): number {
    return Math.min(this.#maxMs, percentileOf(this.#counts, share));
  }
}

/**
 * As of a histogram, for counts of which others may have been taken off, so that they stand for a stretch of time.
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
