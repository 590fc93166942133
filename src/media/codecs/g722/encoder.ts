import { Band, saturate } from './band.ts';
import {
  HIGHER_DECISION_LEVEL,
  HIGHER_SCALE,
  HIGHER_VALUES,
  LOWER_COARSE_VALUES,
  LOWER_DECISION_LEVELS,
  LOWER_NEGATIVE_CODES,
  LOWER_POSITIVE_CODES,
  LOWER_SCALE,
  QMF_COEFFICIENTS,
} from './tables.ts';

const HALF_TAPS = QMF_COEFFICIENTS.length;
const TAPS = 2 * HALF_TAPS;

/**
 * Encodes 16 kHz speech to 64 kbit/s: a quadrature mirror filter splits it into two bands; the lower one's difference from
 * its prediction has six bits, the higher one's two.
 *
 * @see ITU-T G.722 section 3
 */
export class G722Encoder {
  readonly #lower = new Band(LOWER_SCALE);
  readonly #higher = new Band(HIGHER_SCALE);
  /** The last 24 samples, stored twice so that a contiguous window starts at `#position`. */
  readonly #history = new Int32Array(2 * TAPS);
  #position = 0;

  /** @returns Bytes written: one for each pair of samples; an odd sample at the end is ignored. */
  encode(samples: Int16Array, out: Uint8Array): number {
    const count = samples.length >> 1;
    for (let i = 0; i < count; i++) out[i] = this.#encodePair(samples[2 * i] ?? 0, samples[2 * i + 1] ?? 0);
    return count;
  }

  #encodePair(first: number, second: number): number {
    const history = this.#history;
    const start = this.#position;
    history[start] = history[start + TAPS] = first;
    history[start + 1] = history[start + 1 + TAPS] = second;
    this.#position = (start + 2) % TAPS;
    let even = 0;
    let odd = 0;
    for (let i = 0, at = this.#position; i < HALF_TAPS; i++, at += 2) {
      even = (even + Math.imul(history[at] ?? 0, QMF_COEFFICIENTS[i] ?? 0)) | 0;
      odd = (odd + Math.imul(history[at + 1] ?? 0, QMF_COEFFICIENTS[HALF_TAPS - 1 - i] ?? 0)) | 0;
    }
    const lowerCode = encodeLower(this.#lower, (even + odd) >> 14);
    const higherCode = encodeHigher(this.#higher, (odd - even) >> 14);
    return (higherCode << 6) | lowerCode;
  }
}

function encodeLower(band: Band, sample: number): number {
  const error = saturate(sample - band.prediction);
  const magnitude = error < 0 ? ~error : error;
  const interval = findInterval(magnitude, band.step);
  const code = (error < 0 ? LOWER_NEGATIVE_CODES[interval] : LOWER_POSITIVE_CODES[interval]) ?? 0;
  const coarse = code >> 2;
  band.update(coarse, (band.step * (LOWER_COARSE_VALUES[coarse] ?? 0)) >> 15);
  return code;
}

/** @returns 1 to 30: the first interval whose upper bound is above `magnitude`. */
function findInterval(magnitude: number, step: number): number {
  let low = 1;
  let high = LOWER_DECISION_LEVELS.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (magnitude < ((LOWER_DECISION_LEVELS[middle] ?? 0) * step) >> 12) high = middle;
    else low = middle + 1;
  }
  return low;
}

function encodeHigher(band: Band, sample: number): number {
  const error = saturate(sample - band.prediction);
  const magnitude = error < 0 ? ~error : error;
  const isSmall = magnitude < (HIGHER_DECISION_LEVEL * band.step) >> 12 ? 1 : 0;
  const code = (error < 0 ? 0 : 2) | isSmall;
  band.update(code, (band.step * (HIGHER_VALUES[code] ?? 0)) >> 15);
  return code;
}
