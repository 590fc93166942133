/** Loudness that is left alone: 1.3 dB below full scale, so that what remains of a peak has room. */
const THRESHOLD = 28_000;
/** The factor by which the gain recovers per frame, about 10 dB a second. */
const RELEASE = 1.024;
const FULL_SCALE = 32_767;

/** The gain at the beginning and at the end of a frame. */
export interface GainRamp {
  readonly from: number;
  readonly to: number;
}

export const NO_CHANGE: GainRamp = { from: 1, to: 1 };

/** Turns a sum of voices down before it clips, and up again afterwards. */
export class Limiter {
  #gain = 1;

  /** @param sum - The sum of voices of the next 20 ms. */
  next(sum: Int32Array): GainRamp {
    const wanted = Math.min(1, THRESHOLD / peakOf(sum));
    const from = this.#gain;
    if (wanted === 1 && from === 1) return NO_CHANGE;
    this.#gain = Math.min(wanted, from * RELEASE, 1);
    // A frame that is too loud is so from its first sample on.
    return { from: Math.min(from, wanted), to: this.#gain };
  }
}

/**
 * Writes a sum of voices less one of them. What is out of range is clipped.
 *
 * @param out - Receives the mix; as long as the sum and the voice.
 */
export function writeMix(out: Int16Array, sum: Int32Array, { from, to }: GainRamp, own?: Int16Array): void {
  const { length } = sum;
  const step = (to - from) / length;
  for (let n = 0; n < length; n++) {
    const voices = (sum[n] ?? 0) - (own?.[n] ?? 0);
    out[n] = Math.max(-FULL_SCALE, Math.min(FULL_SCALE, Math.round(voices * (from + step * n))));
  }
}

export function addVoice(sum: Int32Array, voice: Int16Array): void {
  for (let n = 0; n < sum.length; n++) sum[n] = (sum[n] ?? 0) + (voice[n] ?? 0);
}

export function isSilent(voice: Int16Array): boolean {
  for (const sample of voice) if (sample !== 0) return false;
  return true;
}

function peakOf(sum: Int32Array): number {
  let peak = 0;
  for (const value of sum) peak = Math.max(peak, Math.abs(value));
  return peak;
}
