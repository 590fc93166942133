/** Lengths that may be cut out or put in: from a high voice's period to a low one's. */
const MIN_LAG_MS = 2.5;
const MAX_LAG_MS = 12.5;
/** Where the ends meet they are mixed over this long. */
const JOINT_MS = 5;
const MIN_FRAME_MS = MIN_LAG_MS + JOINT_MS;
/** Below this root mean square nobody hears where it is joined: about -54 dB. */
const QUIET_RMS = 64;
/** Likeness from which a joint is not heard in speech; 1 is the same. */
const ALIKE = 0.75;

export interface TimeScaleOptions {
  readonly sampleRateHz: number;
  /** Take the best joint there is, though it may be heard. */
  readonly isUrgent: boolean;
}

/**
 * Takes one pitch period out of a frame, in place.
 *
 * @returns The new length; the old one when nothing could be cut without being heard.
 */
export function shorten(frame: Int16Array, options: TimeScaleOptions): number {
  const lag = findLag(frame, options);
  if (lag === 0) return frame.length;
  const joint = jointLength(options);
  for (let n = 0; n < joint; n++) frame[n] = mix(frame[n] ?? 0, frame[n + lag] ?? 0, n, joint);
  frame.copyWithin(joint, joint + lag);
  return frame.length - lag;
}

/**
 * Repeats one pitch period of a frame, in place.
 *
 * @param room - Begins with the frame, and has as much room again behind it.
 * @returns The new length; the old one when nothing could be repeated without being heard.
 */
export function lengthen(room: Int16Array, frameLength: number, options: TimeScaleOptions): number {
  const lag = findLag(room.subarray(0, frameLength), options);
  if (lag === 0 || frameLength + lag > room.length) return frameLength;
  const joint = jointLength(options);
  room.copyWithin(lag + joint, joint, frameLength);
  for (let n = 0; n < joint; n++) room[lag + n] = mix(room[lag + n] ?? 0, room[n] ?? 0, n, joint);
  return frameLength + lag;
}

/** @returns 0 when there is no lag at which the frame is like itself. */
function findLag(frame: Int16Array, { sampleRateHz, isUrgent }: TimeScaleOptions): number {
  if (frame.length < (MIN_FRAME_MS * sampleRateHz) / 1000) return 0;
  const joint = jointLength({ sampleRateHz });
  const maxLag = Math.min(Math.floor((MAX_LAG_MS * sampleRateHz) / 1000), frame.length - joint);
  const minLag = Math.ceil((MIN_LAG_MS * sampleRateHz) / 1000);
  if (isQuiet(frame)) return maxLag;
  let best = 0;
  let bestLikeness = isUrgent ? Number.NEGATIVE_INFINITY : ALIKE;
  for (let lag = minLag; lag <= maxLag; lag++) {
    const likeness = likenessAt(frame, lag, joint);
    if (likeness > bestLikeness) {
      best = lag;
      bestLikeness = likeness;
    }
  }
  return best;
}

function isQuiet(frame: Int16Array): boolean {
  let power = 0;
  for (let n = 0; n < frame.length; n++) power += (frame[n] ?? 0) ** 2;
  return power < frame.length * QUIET_RMS ** 2;
}

/** Correlation of the frame's beginning with what comes `lag` later, -1..1. */
function likenessAt(frame: Int16Array, lag: number, length: number): number {
  let product = 0;
  let [power, laterPower] = [1, 1];
  for (let n = 0; n < length; n++) {
    const sample = frame[n] ?? 0;
    const later = frame[n + lag] ?? 0;
    product += sample * later;
    power += sample * sample;
    laterPower += later * later;
  }
  return product / Math.sqrt(power * laterPower);
}

function jointLength({ sampleRateHz }: Pick<TimeScaleOptions, 'sampleRateHz'>): number {
  return Math.round((JOINT_MS * sampleRateHz) / 1000);
}

function mix(from: number, to: number, n: number, length: number): number {
  const gain = (n + 1) / (length + 1);
  return Math.round(from * (1 - gain) + to * gain);
}
