export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * The delay before the next attempt: doubles with each failure, minus up to half at random, so that clients that failed
 * together do not retry together.
 *
 * @param failures - The number of failures in a row so far, at least 1.
 * @param random - A random number, 0..1.
 */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, random: number): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(fullMs * (1 - random / 2));
}
