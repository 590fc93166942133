import { VAD_FRAME_MS } from '../ports/voiceActivity.ts';

/** Below it is what hums, rumbles and drives past, and little of a voice on the telephone. */
const HIGH_PASS_HZ = 200;
/** Nobody speaks for so long without a pause, if only one between two words: its softest moment is the line's noise. */
const WINDOW_FRAMES = 1500 / VAD_FRAME_MS;
/** Frames that are averaged: the softest of noise is then little softer than its mean. */
const SMOOTHED_FRAMES = 4;
/** Power of what is more than the floor. */
const STANDS_OUT = 3;

/**
 * What is as loud as this for so long is noise at once, whatever was before it: syllables rise and fall. What stays so
 * for `certainAfter` more frames never was a voice: a long vowel ends before.
 */
const STEADY = [
  /** A hiss or a hum: white noise stays within a factor of 2 from frame to frame. */
  { frames: 300 / VAD_FRAME_MS, smoothed: 1, mostRatio: 2, certainAfter: 160 / VAD_FRAME_MS },
  /** What flutters, as a fan does. */
  {
    frames: 500 / VAD_FRAME_MS,
    smoothed: SMOOTHED_FRAMES,
    mostRatio: 2.5,
    certainAfter: 80 / VAD_FRAME_MS,
  },
] as const;

/** What a line sounds like while nobody speaks; learnt as it goes. */
export interface NoiseFloor {
  /** Takes the next 20 ms. */
  hear(frame: Int16Array): void;
  /**
   * Whether the newest frame is clearly louder than the line's own noise. Noise that begins all at once is, for 300 to
   * 500 ms; a caller who speaks before anything else was heard is from the first syllable that follows a softer moment.
   */
  isExceeded(): boolean;
  /**
   * How long the noise has lasted that the newest frame made certain of, so that whoever took its beginning for speech
   * can think better of it; 0 at any other time.
   */
  certainMs(): number;
}

/**
 * The floor is the softest moment of the last 1.5 s, or what has been steady until now. It follows at once where a line
 * gets quieter, so that a caller who speaks softly is heard on a silent line.
 */
export function createNoiseFloor(sampleRateHz: number): NoiseFloor {
  const powers = createHistory(STEADY[0].frames);
  const smoothed = createHistory(WINDOW_FRAMES);
  const powerOf = createHighPassedPower(sampleRateHz);
  let steadyFrames = 0;
  let steady: (typeof STEADY)[number] | undefined;
  const isSteady = ({ frames, smoothed: averaged, mostRatio }: (typeof STEADY)[number]) =>
    (averaged === 1 ? powers : smoothed).isWithin(frames - averaged + 1, mostRatio);
  return {
    hear(frame) {
      powers.add(powerOf(frame));
      smoothed.add(powers.mean(SMOOTHED_FRAMES));
      steady = STEADY.find(isSteady);
      steadyFrames = steady ? steadyFrames + 1 : 0;
    },
    isExceeded: () =>
      powers.mean(1) >= STANDS_OUT * (steady ? smoothed.mean(steady.frames) : smoothed.least()),
    certainMs: () =>
      steady?.certainAfter === steadyFrames ? (steady.frames + steadyFrames) * VAD_FRAME_MS : 0,
  };
}

/** The last numbers of a row, the newest last. */
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
    least: () => leastOf(length),
    /** Whether there are so many, and the greatest of them is at most so many times the least. */
    isWithin(needed: number, ratio: number): boolean {
      if (count < needed) return false;
      const most = ratio * leastOf(needed);
      for (let n = length - needed; n < length; n++) if ((values[n] ?? 0) > most) return false;
      return true;
    },
  };
}

/** Mean square of a frame's samples behind a filter of the first order, which goes on from frame to frame. */
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
