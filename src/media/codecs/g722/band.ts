import { POWERS_OF_TWO, type ScaleFactor } from './tables.ts';

/** The number of the predictor's zeros. */
const ZEROS = 6;

/**
 * The state of one band, which encoder and decoder share: the quantiser's step and a predictor of two poles and six
 * zeros, both adapted by the code words alone.
 *
 * @see ITU-T G.722 sections 3.3 to 3.6 (blocks 3 and 4)
 */
export class Band {
  /** The predicted next sample. */
  prediction = 0;
  /** The quantiser's step. */
  step: number;
  readonly #scale: ScaleFactor;
  #logarithm = 0;
  #pole1 = 0;
  #pole2 = 0;
  /** The zeros' part of the prediction. */
  #fromZeros = 0;
  /** Reconstructed signal, one and two samples ago. */
  #signal1 = 0;
  #signal2 = 0;
  /** Signs of the partly reconstructed signal, one and two samples ago: 0 or -1. */
  #sign1 = 0;
  #sign2 = 0;
  readonly #zeros = new Int32Array(ZEROS);
  /** The quantised differences, newest first. */
  readonly #differences = new Int32Array(ZEROS);

  constructor(scale: ScaleFactor) {
    this.#scale = scale;
    this.step = scale.initialStep;
  }

  /** Adapts to one code word; `difference` is its value at the current step. */
  update(code: number, difference: number): void {
    this.#adaptStep(code);
    const signal = saturate(this.prediction + difference);
    const sign = saturate(this.#fromZeros + difference) >> 15;
    this.#adaptPoles(sign);
    this.#adaptZeros(difference);
    this.#sign2 = this.#sign1;
    this.#sign1 = sign;
    this.#signal2 = this.#signal1;
    this.#signal1 = signal;
    const fromPoles = saturate(
      (Math.imul(this.#pole1, saturate(2 * this.#signal1)) >> 15) +
        (Math.imul(this.#pole2, saturate(2 * this.#signal2)) >> 15),
    );
    this.prediction = saturate(fromPoles + this.#fromZeros);
  }

  #adaptStep(code: number): void {
    const { logarithmStep, logarithmLimit, shift } = this.#scale;
    const logarithm = (Math.imul(this.#logarithm, 127) >> 7) + (logarithmStep[code] ?? 0);
    this.#logarithm = logarithm < 0 ? 0 : Math.min(logarithm, logarithmLimit);
    const power = POWERS_OF_TWO[(this.#logarithm >> 6) & 31] ?? 0;
    const exponent = shift - (this.#logarithm >> 11);
    this.step = (exponent < 0 ? power << -exponent : power >> exponent) << 2;
  }

  #adaptPoles(sign: number): void {
    const lean = saturate(4 * this.#pole1);
    const towards = sign === this.#sign1 ? saturate(-lean) : lean;
    const pole2 =
      (towards >> 7) + (sign === this.#sign2 ? 128 : -128) + (Math.imul(this.#pole2, 32512) >> 15);
    this.#pole2 = clamp(pole2, 12288);
    const pole1 = (sign === this.#sign1 ? 192 : -192) + (Math.imul(this.#pole1, 32640) >> 15);
    this.#pole1 = clamp(pole1, 15360 - this.#pole2);
  }

  /** Adapts the zeros, shifts the differences and filters, in one pass. */
  #adaptZeros(difference: number): void {
    const zeros = this.#zeros;
    const differences = this.#differences;
    const gain = difference === 0 ? 0 : 128;
    const sign = difference >> 15;
    let newer = difference;
    let sum = 0;
    for (let i = 0; i < ZEROS; i++) {
      const older = differences[i] ?? 0;
      const zero = (older >> 15 === sign ? gain : -gain) + (Math.imul(zeros[i] ?? 0, 32640) >> 15);
      zeros[i] = zero;
      differences[i] = newer;
      sum += Math.imul(zero, saturate(2 * newer)) >> 15;
      newer = older;
    }
    this.#fromZeros = saturate(sum);
  }
}

/** Clamps to 16 bits. */
export function saturate(value: number): number {
  if (value > 32767) return 32767;
  if (value < -32768) return -32768;
  return value;
}

function clamp(value: number, limit: number): number {
  if (value > limit) return limit;
  if (value < -limit) return -limit;
  return value;
}
