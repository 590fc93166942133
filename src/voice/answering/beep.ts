/** Beeps of machines lie between these. */
const LOWEST_HZ = 400;
const HIGHEST_HZ = 2200;
/** Half the width of a 20 ms frame's own band, so that no tone falls between two. */
const STEP_HZ = 25;
/** Of a frame's energy that a beep has in one narrow band; speech and music spread theirs. */
const TONE_SHARE = 0.7;
/** RMS below which nothing is a beep. */
const LOWEST_RMS = 300;
/** A beep lasts at least so long; ring-back and dial tones last longer than the upper bound. */
const SHORTEST_FRAMES = 8;
const LONGEST_FRAMES = 75;
/** A tone holds its pitch. */
const TOLERANCE_HZ = 2 * STEP_HZ;

/** Notices the tone after which a machine records. */
export interface BeepDetector {
  /** @param frame - 20 ms. @returns Whether a beep has just ended. */
  hear(frame: Int16Array): boolean;
}

/** Looks for one steady tone by Goertzel's algorithm over a comb of frequencies. */
export function createBeepDetector(sampleRateHz: number): BeepDetector {
  let toneHz: number | undefined;
  let frames = 0;
  return {
    hear(frame) {
      const hz = toneOf(frame, sampleRateHz);
      const goesOn = hz !== undefined && toneHz !== undefined && Math.abs(hz - toneHz) <= TOLERANCE_HZ;
      if (goesOn) {
        frames += 1;
        return false;
      }
      const wasBeep = frames >= SHORTEST_FRAMES && frames <= LONGEST_FRAMES && hz === undefined;
      toneHz = hz;
      frames = hz === undefined ? 0 : 1;
      return wasBeep;
    },
  };
}

/** @returns The frequency of the one tone that a frame is; undefined for anything else. */
export function toneOf(frame: Int16Array, sampleRateHz: number): number | undefined {
  let energy = 0;
  for (const sample of frame) energy += sample * sample;
  if (energy < LOWEST_RMS * LOWEST_RMS * frame.length) return undefined;
  let best = 0;
  let bestHz: number | undefined;
  for (let hz = LOWEST_HZ; hz <= HIGHEST_HZ; hz += STEP_HZ) {
    const power = goertzel(frame, hz / sampleRateHz);
    if (power > best) [best, bestHz] = [power, hz];
  }
  // A pure tone of amplitude A has A²n/2 of energy, and A²n²/4 in its bin.
  return (2 * best) / (energy * frame.length) >= TONE_SHARE ? bestHz : undefined;
}

/** @param cyclesPerSample - Frequency over sampling rate. @returns Squared magnitude of that frequency. */
function goertzel(frame: Int16Array, cyclesPerSample: number): number {
  const coefficient = 2 * Math.cos(2 * Math.PI * cyclesPerSample);
  let [one, two] = [0, 0];
  for (const sample of frame) [one, two] = [sample + coefficient * one - two, one];
  return one * one + two * two - coefficient * one * two;
}
