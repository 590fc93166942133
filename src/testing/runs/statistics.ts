/** The normal distribution's 97.5th percentile: an interval of 95 %. */
const Z = 1.959_964;

/** The Wilson score interval of a share. @see Wilson, JASA 22 (1927) */
export function wilson(passed: number, total: number): { value: number; low: number; high: number } {
  const value = passed / total;
  const scale = 1 + Z ** 2 / total;
  const center = (value + Z ** 2 / (2 * total)) / scale;
  const half = (Z / scale) * Math.sqrt((value * (1 - value)) / total + Z ** 2 / (4 * total ** 2));
  return { value, low: rounded(Math.max(0, center - half)), high: rounded(Math.min(1, center + half)) };
}

/** Returns a percentile by nearest rank. @returns Null for no values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
