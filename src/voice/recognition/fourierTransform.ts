/** The discrete Fourier transform of one length, in place. */
export type FourierTransform = (real: Float64Array, imaginary: Float64Array) => void;

/**
 * Cooley and Tukey's algorithm by halves. The inverse is the same with the two parts in each other's place, divided by
 * the length.
 *
 * @param length - A power of two, up to 65,536.
 * @returns Spectra are not scaled.
 * @see Oppenheim and Schafer, Discrete-Time Signal Processing, chapter 9
 */
export function createFourierTransform(length: number): FourierTransform {
  const order = bitReversed(length);
  const cosines = Float64Array.from({ length: length / 2 }, (_, n) => Math.cos((2 * Math.PI * n) / length));
  const sines = Float64Array.from({ length: length / 2 }, (_, n) => Math.sin((2 * Math.PI * n) / length));
  return (real, imaginary) => {
    reorder(real, order);
    reorder(imaginary, order);
    for (let half = 1; half < length; half *= 2)
      butterflies(real, imaginary, half, { cosines, sines, step: length / (2 * half) });
  };
}

interface Turns {
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
  /** From one turn of this stage to its next. */
  readonly step: number;
}

/** One stage: each two spectra of `half` points become one of twice as many. */
function butterflies(real: Float64Array, imaginary: Float64Array, half: number, turns: Turns): void {
  for (let k = 0; k < half; k++) {
    const cosine = turns.cosines[k * turns.step] ?? 0;
    const sine = turns.sines[k * turns.step] ?? 0;
    for (let upper = k; upper < real.length; upper += 2 * half) {
      const lower = upper + half;
      const [re, im] = [real[lower] ?? 0, imaginary[lower] ?? 0];
      const turnedReal = re * cosine + im * sine;
      const turnedImaginary = im * cosine - re * sine;
      real[lower] = (real[upper] ?? 0) - turnedReal;
      imaginary[lower] = (imaginary[upper] ?? 0) - turnedImaginary;
      real[upper] = (real[upper] ?? 0) + turnedReal;
      imaginary[upper] = (imaginary[upper] ?? 0) + turnedImaginary;
    }
  }
}

function reorder(values: Float64Array, order: Uint16Array): void {
  for (let n = 0; n < values.length; n++) {
    const other = order[n] ?? 0;
    if (other <= n) continue;
    const value = values[n] ?? 0;
    values[n] = values[other] ?? 0;
    values[other] = value;
  }
}

/** Where each point goes whose number's bits are read backwards. */
function bitReversed(length: number): Uint16Array {
  const order = new Uint16Array(length);
  for (let n = 1; n < length; n++) order[n] = ((order[n >> 1] ?? 0) >> 1) | (n & 1 ? length >> 1 : 0);
  return order;
}
