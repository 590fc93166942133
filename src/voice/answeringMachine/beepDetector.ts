/** Beeps of machines lie between these. */
const LOWEST_HZ = 400;
const HIGHEST_HZ = 2200;
/** Half the width of a 20 ms frame's own band, so that no tone falls between two. */
const STEP_HZ = 25;
/** The comb that is tried first: what has no strong tooth here has none in between. */
const COARSE_STEP_HZ = 2 * STEP_HZ;
/** Of a frame's energy that a beep has in one narrow band; speech and music spread theirs. */
const TONE_SHARE = 0.7;
/** What a tooth of the coarse comb has at least of a tone that lies between two: half a bin off, 0.4 of its power. */
const COARSE_SHARE = 0.35 * TONE_SHARE;
/** RMS below which nothing is a beep. */
const LOWEST_RMS = 300;
/** A beep lasts at least so long; ring-back and dial tones last longer than the upper bound. */
const SHORTEST_FRAMES = 8;
const LONGEST_FRAMES = 75;
/** While nothing sounds like a tone, one frame of so many is looked at: no beep fits between two of them. */
const LOOK_EVERY_FRAMES = 4;
/** A tone holds its pitch. */
const TOLERANCE_HZ = 2 * STEP_HZ;

/** Notices the tone after which a machine records. */
export interface BeepDetector {
  /** @param frame - 20 ms. @returns Whether a beep has just ended. */
  hear(frame: Int16Array): boolean;
}

/** Looks for one steady tone by Goertzel's algorithm over a comb of frequencies. */
export function createBeepDetector(sampleRateHz: number): BeepDetector {
  const unseen: Int16Array[] = [];
  let toneHz: number | undefined;
  let frames = 0;

  const look = (frame: Int16Array): boolean => {
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
  };
  return {
    hear(frame) {
      if (toneHz !== undefined) return look(frame);
      if (unseen.length < LOOK_EVERY_FRAMES - 1) {
        unseen.push(frame.slice());
        return false;
      }
      const before = unseen.splice(0);
      if (toneOf(frame, sampleRateHz) === undefined) return false;
      // It began somewhere in what was passed over, and its length counts.
      for (const passed of before) look(passed);
      return look(frame);
    },
  };
}

/** @returns The frequency of the one tone that a frame is; undefined for anything else. */
export function toneOf(frame: Int16Array, sampleRateHz: number): number | undefined {
  const energy = energyOf(frame);
  if (energy < LOWEST_RMS * LOWEST_RMS * frame.length) return undefined;
  // A pure tone of amplitude A has A²n/2 of energy, and A²n²/4 in its bin.
  const whole = (energy * frame.length) / 2;
  let best = 0;
  let bestHz = 0;
  const probe = (hz: number) => {
    const power = goertzel(frame, hz / sampleRateHz);
    if (power > best) [best, bestHz] = [power, hz];
  };
  for (let hz = LOWEST_HZ; hz <= HIGHEST_HZ; hz += COARSE_STEP_HZ) probe(hz);
  if (best < COARSE_SHARE * whole) return undefined;
  const nearHz = bestHz;
  probe(nearHz - STEP_HZ);
  probe(nearHz + STEP_HZ);
  return best >= TONE_SHARE * whole ? bestHz : undefined;
}

function energyOf(frame: Int16Array): number {
  let energy = 0;
  for (let n = 0; n < frame.length; n++) {
    const sample = frame[n] ?? 0;
    energy += sample * sample;
  }
  return energy;
}

/** @param cyclesPerSample - Frequency over sampling rate. @returns Squared magnitude of that frequency. */
function goertzel(frame: Int16Array, cyclesPerSample: number): number {
  const coefficient = 2 * Math.cos(2 * Math.PI * cyclesPerSample);
  let one = 0;
  let two = 0;
  for (let n = 0; n < frame.length; n++) {
    const next = (frame[n] ?? 0) + coefficient * one - two;
    two = one;
    one = next;
  }
  return one * one + two * two - coefficient * one * two;
}
