import { designLowPass } from './filter.ts';

/** One change of rate by 2 or 3, with memory, so that chunks of a stream join without a seam. */
export interface Stage {
  /** @returns Samples written. Any number may come in; what does not fill a sample yet is kept. */
  process(input: Int16Array, inputLength: number, output: Int16Array): number;
  /** The most that `inputLength` samples can give. */
  maxOutput(inputLength: number): number;
}

/**
 * Up by `factor`: each branch of the filter makes one of the samples that belong to an input sample.
 *
 * @param maxInput - Most samples in one call; memory is taken once.
 */
export function createUpsampler(factor: 2 | 3, maxInput: number): Stage {
  const branches = splitIntoBranches(factor);
  const reach = branches[0]?.length ?? 0;
  const history = new Float64Array(reach - 1 + maxInput);
  return {
    process(input, inputLength, output) {
      append(history, reach - 1, input, inputLength);
      for (let branch = 0; branch < factor; branch++) {
        const taps = branches[branch];
        if (taps === undefined) delayInto(output, branch, factor, history, reach >> 1, inputLength);
        else convolveInto(output, branch, factor, history, taps, inputLength);
      }
      history.copyWithin(0, inputLength, inputLength + reach - 1);
      return inputLength * factor;
    },
    maxOutput: (inputLength) => inputLength * factor,
  };
}

/**
 * Down by `factor`: only the samples that stay are computed.
 *
 * @param maxInput - Most samples in one call; memory is taken once.
 */
export function createDownsampler(factor: 2 | 3, maxInput: number): Stage {
  const taps = designLowPass(factor);
  const reach = taps.length;
  const half = (reach - 1) / 2;
  const offsets = Int32Array.from(
    Array.from({ length: half }, (_, index) => index).filter((index) => (half - index) % factor !== 0),
  );
  const weights = Float64Array.from(offsets, (offset) => taps[offset] ?? 0);
  const centre = taps[half] ?? 0;
  const history = new Float64Array(reach - 1 + maxInput);
  /** Where in the next input the next output's newest sample lies. */
  let next = 0;
  return {
    process(input, inputLength, output) {
      append(history, reach - 1, input, inputLength);
      let written = 0;
      for (; next < inputLength; next += factor) {
        const last = next + reach - 1;
        let sum = centre * (history[next + half] ?? 0);
        for (let k = 0; k < offsets.length; k++) {
          const offset = offsets[k] ?? 0;
          sum += (weights[k] ?? 0) * ((history[next + offset] ?? 0) + (history[last - offset] ?? 0));
        }
        output[written++] = toInt16(sum);
      }
      next -= inputLength;
      history.copyWithin(0, inputLength, inputLength + reach - 1);
      return written;
    },
    maxOutput: (inputLength) => Math.ceil(inputLength / factor),
  };
}

/**
 * The filter's taps by the output sample they make, newest input last, with the gain that the zeros between take.
 * The branch that holds the centre has no other tap: it is undefined, a plain delay by half the others' length.
 */
function splitIntoBranches(factor: number): (Float64Array | undefined)[] {
  const taps = designLowPass(factor);
  const reach = Math.ceil(taps.length / factor);
  const centreBranch = ((taps.length - 1) / 2) % factor;
  return Array.from({ length: factor }, (_, branch) =>
    branch === centreBranch
      ? undefined
      : Float64Array.from(
          { length: reach },
          (__, n) => (taps[(reach - 1 - n) * factor + branch] ?? 0) * factor,
        ),
  );
}

function delayInto(
  output: Int16Array,
  offset: number,
  stride: number,
  history: Float64Array,
  delay: number,
  count: number,
): void {
  for (let n = 0; n < count; n++) output[n * stride + offset] = history[n + delay] ?? 0;
}

/** Two sums at a time, since each addition waits for the one before it. */
function convolveInto(
  output: Int16Array,
  offset: number,
  stride: number,
  history: Float64Array,
  taps: Float64Array,
  count: number,
): void {
  for (let n = 0; n < count; n++) {
    let even = 0;
    let odd = 0;
    for (let k = 0; k < taps.length; k += 2) {
      even += (taps[k] ?? 0) * (history[n + k] ?? 0);
      odd += (taps[k + 1] ?? 0) * (history[n + k + 1] ?? 0);
    }
    output[n * stride + offset] = toInt16(even + odd);
  }
}

function append(history: Float64Array, offset: number, input: Int16Array, inputLength: number): void {
  for (let n = 0; n < inputLength; n++) history[offset + n] = input[n] ?? 0;
}

function toInt16(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
