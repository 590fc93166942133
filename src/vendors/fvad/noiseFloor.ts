import { VAD_FRAME_MS } from '../../models/ports/voiceActivity.ts';

/** Removes hum, rumble and traffic, and little of telephone speech. */
const HIGH_PASS_HZ = 200;
/** Speech has a pause in every such window, whose quietest moment is the line's noise. */
const WINDOW_FRAMES = 1500 / VAD_FRAME_MS;
/** Averaged frames: the minimum of averaged noise is close to its mean. */
const SMOOTHED_FRAMES = 4;
/** Minimum ratio of power to the noise floor. */
const MIN_POWER_RATIO = 3;
/** Mean square of a frame without any sound: of lost packets, or of a phone that sends zeros between words. */
const DIGITAL_SILENCE = 4;
/** Digital silence that lasts longer is the line's own. */
const MAX_DROPOUT_FRAMES = 500 / VAD_FRAME_MS;

/**
 * Sound of constant power over `frames` is noise, since the power of syllables varies. After `certainAfter` more frames it
 * is certain that it was never speech: a long vowel is shorter.
 */
const STEADY = [
  /** Hiss or hum: the power of white noise varies by a factor below 2. */
  { frames: 300 / VAD_FRAME_MS, smoothed: 1, mostRatio: 2, certainAfter: 160 / VAD_FRAME_MS },
  /** Fluctuating noise, such as a fan. */
  {
    frames: 500 / VAD_FRAME_MS,
    smoothed: SMOOTHED_FRAMES,
    mostRatio: 2.5,
    certainAfter: 80 / VAD_FRAME_MS,
  },
] as const;

/** Estimates a line's noise level. */
export interface NoiseFloor {
  /** @param frame - The next 20 ms of samples. */
  push(frame: Int16Array): void;
  /**
   * Returns true when the newest frame is clearly louder than the noise. Sudden noise counts for 300 to 500 ms. In a
   * stream that starts with speech, it returns true from the first syllable after a quieter moment.
   */
  isExceeded(): boolean;
  /**
   * Duration of the noise of which the newest frame made certain, for revising results that took it for speech; else 0.
   */
  certainMs(): number;
}

/**
 * The floor is the quietest moment of the last 1.5 s, or the level of steady sound. It follows a quieter line at once, so
 * that soft speech is detected on a silent line. A dropout is no quiet moment: after it, the line's noise would be taken
 * for speech.
 */
export function createNoiseFloor(sampleRateHz: number): NoiseFloor {
  const powers = createHistory(STEADY[0].frames);
  const smoothed = createHistory(WINDOW_FRAMES);
  const powerOf = createHighPassedPower(sampleRateHz);
  let silentFrames = 0;
  let isDropout = false;
  let steadyFrames = 0;
  let steady: (typeof STEADY)[number] | undefined;
  const isSteady = ({ frames, smoothed: averaged, mostRatio }: (typeof STEADY)[number]) =>
    (averaged === 1 ? powers : smoothed).isWithin(frames - averaged + 1, mostRatio);
  return {
    push(frame) {
      const power = powerOf(frame);
      silentFrames = power < DIGITAL_SILENCE ? silentFrames + 1 : 0;
      isDropout = silentFrames > 0 && silentFrames <= MAX_DROPOUT_FRAMES && !powers.isEmpty();
      if (isDropout) return;
      powers.add(power);
      smoothed.add(powers.mean(SMOOTHED_FRAMES));
      steady = STEADY.find(isSteady);
      steadyFrames = steady ? steadyFrames + 1 : 0;
    },
    isExceeded: () =>
      !isDropout &&
      powers.mean(1) >= MIN_POWER_RATIO * (steady ? smoothed.mean(steady.frames) : smoothed.least()),
    certainMs: () =>
      !isDropout && steady?.certainAfter === steadyFrames ? (steady.frames + steadyFrames) * VAD_FRAME_MS : 0,
  };
}

/** A sliding window of numbers, newest last. */
function createHistory(length: number) {
  const values = new Float64Array(length);
  let count = 0;
  const leastOf = (most: number): number => {
    let least = Number.POSITIVE_INFINITY;
    for (let n = length - Math.min(most, count); n < length; n++) least = Math.min(least, values[n] ?? 0);
    return least;
  };
  return {
    add(value: number): void {
      values.copyWithin(0, 1);
      values[length - 1] = value;
      count = Math.min(length, count + 1);
    },
    mean(most: number): number {
      const taken = Math.min(most, count);
      let sum = 0;
      for (let n = length - taken; n < length; n++) sum += values[n] ?? 0;
      return sum / taken;
    },
    isEmpty: () => count === 0,
    least: () => leastOf(length),
    /** Returns true when `needed` values have a maximum of at most `ratio` times their minimum. */
    isWithin(needed: number, ratio: number): boolean {
      if (count < needed) return false;
      const most = ratio * leastOf(needed);
      for (let n = length - needed; n < length; n++) if ((values[n] ?? 0) > most) return false;
      return true;
    },
  };
}

/** Mean square of a frame after a first-order high-pass filter, whose state continues across frames. */
function createHighPassedPower(sampleRateHz: number): (frame: Int16Array) => number {
  const kept = 1 / (1 + (2 * Math.PI * HIGH_PASS_HZ) / sampleRateHz);
  let lastIn = 0;
  let lastOut = 0;
  return (frame) => {
    let sum = 0;
    for (let n = 0; n < frame.length; n++) {
      const sample = frame[n] ?? 0;
      lastOut = kept * (lastOut + sample - lastIn);
      lastIn = sample;
      sum += lastOut * lastOut;
    }
    return sum / frame.length;
  };
}
