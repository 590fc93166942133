export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait before another attempt: twice as long after each failure, less up to a half by chance, so that many
 * who failed together do not come back together.
 *
 * @param failures - In a row so far, at least 1.
 * @param random - 0..1.
 */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, random: number): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(fullMs * (1 - random / 2));
}
