import { Band, saturate } from './band.ts';
import {
  HIGHER_SCALE,
  HIGHER_VALUES,
  LOWER_COARSE_VALUES,
  LOWER_FINE_VALUES,
  LOWER_SCALE,
  QMF_COEFFICIENTS,
} from './tables.ts';

const HALF_TAPS = QMF_COEFFICIENTS.length;
const TAPS = 2 * HALF_TAPS;
/** Each band's signal has 15 bits. */
const BAND_LIMIT = 16_384;

/**
 * Decodes 64 kbit/s to 16 kHz speech.
 *
 * @see ITU-T G.722 section 4
 */
export class G722Decoder {
  readonly #lower = new Band(LOWER_SCALE);
  readonly #higher = new Band(HIGHER_SCALE);
  /** Sums and differences of the bands, stored twice so that a contiguous window starts at `#position`. */
  readonly #history = new Int32Array(2 * TAPS);
  #position = 0;

  /** @returns Samples written: two for each byte. */
  decode(payload: Uint8Array, out: Int16Array): number {
    for (let i = 0; i < payload.length; i++) this.#decodePair(payload[i] ?? 0, out, 2 * i);
    return 2 * payload.length;
  }

  #decodePair(byte: number, out: Int16Array, offset: number): void {
    const lower = decodeLower(this.#lower, byte & 0x3f);
    const higher = decodeHigher(this.#higher, byte >> 6);
    const history = this.#history;
    const start = this.#position;
    history[start] = history[start + TAPS] = lower + higher;
    history[start + 1] = history[start + 1 + TAPS] = lower - higher;
    this.#position = (start + 2) % TAPS;
    let even = 0;
    let odd = 0;
    for (let i = 0, at = this.#position; i < HALF_TAPS; i++, at += 2) {
      even = (even + Math.imul(history[at] ?? 0, QMF_COEFFICIENTS[i] ?? 0)) | 0;
      odd = (odd + Math.imul(history[at + 1] ?? 0, QMF_COEFFICIENTS[HALF_TAPS - 1 - i] ?? 0)) | 0;
    }
    out[offset] = saturate(odd >> 11);
    out[offset + 1] = saturate(even >> 11);
  }
}

function decodeLower(band: Band, code: number): number {
  const coarse = code >> 2;
  const signal = limit(band.prediction + ((band.step * (LOWER_FINE_VALUES[code] ?? 0)) >> 15));
  band.update(coarse, (band.step * (LOWER_COARSE_VALUES[coarse] ?? 0)) >> 15);
  return signal;
}

function decodeHigher(band: Band, code: number): number {
  const difference = (band.step * (HIGHER_VALUES[code] ?? 0)) >> 15;
  const signal = limit(band.prediction + difference);
  band.update(code, difference);
  return signal;
}

function limit(value: number): number {
  return Math.max(-BAND_LIMIT, Math.min(value, BAND_LIMIT - 1));
}
