import { createFourierTransform } from './fourierTransform.ts';

/** Compares a window with every stretch of a longer past. */
export interface Correlator {
  /**
   * @param window - As many samples as were agreed.
   * @param past - So many, and one for each offset but the first.
   * @returns Of each offset the sum of products of the window with the past from there on; valid until the next call.
   */
  correlate(window: Float64Array, past: Float64Array): Float64Array;
}

/**
 * By the spectra, in which comparing at all offsets is one multiplication: some thirty times as fast as sums of products
 * for a window of 800 samples at 2,000 offsets. The past is taken in two halves that overlap, one of which rides in the
 * imaginary part.
 *
 * @param windowLength - In samples.
 * @param offsets - How many there are.
 */
export function createCorrelator(windowLength: number, offsets: number): Correlator {
  const length = 2 ** Math.ceil(Math.log2(windowLength - 1 + Math.ceil(offsets / 2)));
  // Beyond these a window reaches over the block's end, and its sum mixes with that of the block's beginning.
  const each = length - windowLength + 1;
  const transform = createFourierTransform(length);
  const windowReal = new Float64Array(length);
  const windowImaginary = new Float64Array(length);
  const pastReal = new Float64Array(length);
  const pastImaginary = new Float64Array(length);
  const products = new Float64Array(2 * each);
  return {
    correlate(window, past) {
      fill(windowReal, window);
      windowImaginary.fill(0);
      fill(pastReal, past.subarray(0, length));
      fill(pastImaginary, past.subarray(each, each + length));
      transform(windowReal, windowImaginary);
      transform(pastReal, pastImaginary);
      for (let n = 0; n < length; n++) {
        const [wr, wi] = [windowReal[n] ?? 0, windowImaginary[n] ?? 0];
        const [pr, pi] = [pastReal[n] ?? 0, pastImaginary[n] ?? 0];
        pastReal[n] = (pr * wr + pi * wi) / length;
        pastImaginary[n] = (pi * wr - pr * wi) / length;
      }
      transform(pastImaginary, pastReal);
      products.set(pastReal.subarray(0, each));
      products.set(pastImaginary.subarray(0, each), each);
      return products.subarray(0, offsets);
    },
  };
}

function fill(block: Float64Array, values: Float64Array): void {
  block.set(values);
  block.fill(0, values.length);
}
