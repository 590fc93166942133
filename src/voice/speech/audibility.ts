/** Below -54 dBFS a sample is inaudible on a telephone. */
const AUDIBLE = 64;
/** Kept before the first audible sample: a soft consonant starts there. */
const KEPT_MS = 20;

/**
 * Removes the 50 to 200 ms of silence that synthetic voices start with.
 *
 * @returns The samples from shortly before the first audible one; none where no sample is audible.
 */
export function withoutLeadingSilence(samples: Int16Array, sampleRateHz: number): Int16Array {
  const first = firstAudible(samples);
  if (first < 0) return samples.subarray(samples.length);
  return samples.subarray(Math.max(0, first - (sampleRateHz * KEPT_MS) / 1000));
}

/** Index of the first audible sample; -1 where there is none. */
export function firstAudible(samples: Int16Array): number {
  return samples.findIndex((sample) => Math.abs(sample) >= AUDIBLE);
}
