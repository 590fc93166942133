/** Range of answering machine beeps. */
const LOWEST_HZ = 400;
const HIGHEST_HZ = 2200;
/** Half the bandwidth of a 20 ms frame, so that no tone falls between two probes. */
const STEP_HZ = 25;
/** Share of a frame's energy that a beep has in one narrow band; speech and music spread theirs. */
const TONE_SHARE = 0.7;
/** RMS below which a tone is ignored. */
const LOWEST_RMS = 300;
/** Bounds of a beep; ring-back and dial tones are longer. */
const SHORTEST_FRAMES = 8;
const LONGEST_FRAMES = 75;
/** While no tone sounds, only every fourth frame is probed; every beep is longer. */
const PROBE_EVERY_FRAMES = 4;
/** A tone keeps its pitch within this. */
const PITCH_TOLERANCE_HZ = 2 * STEP_HZ;

/** Detects the tone after which an answering machine records. */
export interface BeepDetector {
  /** @param frame - 20 ms. @returns Whether a beep has just ended. */
  push(frame: Int16Array): boolean;
  /** Whether a tone has been found and has not ended. */
  readonly isSounding: boolean;
}

/** Looks for one steady tone with Goertzel's algorithm over a comb of frequencies. */
export function createBeepDetector(sampleRateHz: number): BeepDetector {
  const skipped: Int16Array[] = [];
  let toneHz: number | undefined;
  let frames = 0;

  const probe = (frame: Int16Array): boolean => {
    const hz = toneOf(frame, sampleRateHz);
    const continues = hz !== undefined && toneHz !== undefined && Math.abs(hz - toneHz) <= PITCH_TOLERANCE_HZ;
    if (continues) {
      frames += 1;
      return false;
    }
    const wasBeep = frames >= SHORTEST_FRAMES && frames <= LONGEST_FRAMES && hz === undefined;
    toneHz = hz;
    frames = hz === undefined ? 0 : 1;
    return wasBeep;
  };
  return {
    get isSounding() {
      return toneHz !== undefined;
    },
    push(frame) {
      if (toneHz !== undefined) return probe(frame);
      if (skipped.length < PROBE_EVERY_FRAMES - 1) {
        skipped.push(frame.slice());
        return false;
      }
      const before = skipped.splice(0);
      if (toneOf(frame, sampleRateHz) === undefined) return false;
      // The tone started in one of the skipped frames, which count for its length.
      for (const earlier of before) probe(earlier);
      return probe(frame);
    },
  };
}

/** @returns The frequency of a frame that is one tone; undefined for anything else. */
export function toneOf(frame: Int16Array, sampleRateHz: number): number | undefined {
  const energy = energyOf(frame);
  if (energy < LOWEST_RMS * LOWEST_RMS * frame.length) return undefined;
  // A pure tone of amplitude A has energy A²n/2, and power A²n²/4 in its bin.
  const whole = (energy * frame.length) / 2;
  let best = 0;
  let bestHz = 0;
  for (let hz = LOWEST_HZ; hz <= HIGHEST_HZ; hz += STEP_HZ) {
    const power = goertzel(frame, hz / sampleRateHz);
    if (power > best) [best, bestHz] = [power, hz];
  }
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
