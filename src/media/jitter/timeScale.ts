/** Pitch periods, from a high voice to a low one. */
const MIN_LAG_MS = 2.5;
const MAX_LAG_MS = 12.5;
/** The length of the cross-fade. */
const CROSSFADE_MS = 5;
const MIN_FRAME_MS = MIN_LAG_MS + CROSSFADE_MS;
/** Root mean square below which a joint is inaudible: about -54 dB. */
const QUIET_RMS = 64;
/** Correlation above which a joint is inaudible in speech; 1 is identical. */
const MIN_CORRELATION = 0.75;

export interface TimeScaleOptions {
  readonly sampleRateHz: number;
  /** Take the best joint, though it may be audible. */
  readonly isUrgent: boolean;
  /** Change the length by this much at most. */
  readonly maxMs?: number;
}

/**
 * Removes one pitch period of a frame, in place.
 *
 * @returns The new length; the old one when no removal is inaudible.
 */
export function shorten(frame: Int16Array, options: TimeScaleOptions): number {
  const lag = findLag(frame, options);
  if (lag === 0) return frame.length;
  const crossfade = crossfadeLength(options.sampleRateHz);
  for (let n = 0; n < crossfade; n++) frame[n] = mix(frame[n] ?? 0, frame[n + lag] ?? 0, n, crossfade);
  frame.copyWithin(crossfade, crossfade + lag);
  return frame.length - lag;
}

/**
 * Repeats one pitch period of a frame, in place.
 *
 * @param room - The frame with as much room again behind it.
 * @returns The new length; the old one when no repetition is inaudible.
 */
export function lengthen(room: Int16Array, frameLength: number, options: TimeScaleOptions): number {
  const lag = findLag(room.subarray(0, frameLength), options);
  if (lag === 0 || frameLength + lag > room.length) return frameLength;
  const crossfade = crossfadeLength(options.sampleRateHz);
  room.copyWithin(lag + crossfade, crossfade, frameLength);
  for (let n = 0; n < crossfade; n++) room[lag + n] = mix(room[lag + n] ?? 0, room[n] ?? 0, n, crossfade);
  return frameLength + lag;
}

/** @returns 0 when the frame resembles itself at no lag. */
function findLag(
  frame: Int16Array,
  { sampleRateHz, isUrgent, maxMs = MAX_LAG_MS }: TimeScaleOptions,
): number {
  if (frame.length < (MIN_FRAME_MS * sampleRateHz) / 1000) return 0;
  const crossfade = crossfadeLength(sampleRateHz);
  const longestMs = Math.min(maxMs, MAX_LAG_MS);
  const maxLag = Math.min(Math.floor((longestMs * sampleRateHz) / 1000), frame.length - crossfade);
  const minLag = Math.ceil((MIN_LAG_MS * sampleRateHz) / 1000);
  if (maxLag < minLag) return 0;
  if (isQuiet(frame)) return maxLag;
  let best = 0;
  let bestCorrelation = isUrgent ? Number.NEGATIVE_INFINITY : MIN_CORRELATION;
  for (let lag = minLag; lag <= maxLag; lag++) {
    const correlation = correlationAt(frame, lag, crossfade);
    if (correlation > bestCorrelation) {
      best = lag;
      bestCorrelation = correlation;
    }
  }
  return best;
}

function isQuiet(frame: Int16Array): boolean {
  let power = 0;
  for (let n = 0; n < frame.length; n++) power += (frame[n] ?? 0) ** 2;
  return power < frame.length * QUIET_RMS ** 2;
}

/** Correlation of the frame's start with the samples `lag` later, -1..1. */
function correlationAt(frame: Int16Array, lag: number, length: number): number {
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

function crossfadeLength(sampleRateHz: number): number {
  return Math.round((CROSSFADE_MS * sampleRateHz) / 1000);
}

function mix(from: number, to: number, n: number, length: number): number {
  const gain = (n + 1) / (length + 1);
  return Math.round(from * (1 - gain) + to * gain);
}
