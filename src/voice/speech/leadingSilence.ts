/** Below -54 dB of full scale nobody hears anything on a telephone. */
const AUDIBLE = 64;
/** Kept before the first sample that can be heard: a soft consonant begins there. */
const KEPT_MS = 20;

/**
 * Voices begin with 50 to 200 ms of quiet, which a caller who waits for an answer need not hear.
 *
 * @returns The samples from shortly before the first audible one; none where there is none.
 */
export function withoutLeadIn(samples: Int16Array, sampleRateHz: number): Int16Array {
  const first = firstAudible(samples);
  if (first < 0) return samples.subarray(samples.length);
  return samples.subarray(Math.max(0, first - (sampleRateHz * KEPT_MS) / 1000));
}

/** Index of the first sample that a listener on a telephone hears; -1 where there is none. */
export function firstAudible(samples: Int16Array): number {
  return samples.findIndex(isHeard);
}

/** Whether a listener on a telephone hears anything of it. */
export function isAudible(samples: Int16Array): boolean {
  return samples.some(isHeard);
}

function isHeard(sample: number): boolean {
  return Math.abs(sample) >= AUDIBLE;
}
