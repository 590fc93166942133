import { createConvolver, sumsFor } from './convolver.ts';
import { designLowPass } from './filter.ts';

/** A change of rate by 2 or 3, with state, so that chunks of a stream join seamlessly. */
export interface Stage {
  /** @returns Samples written. The input can have any length. */
  process(input: Int16Array, inputLength: number, output: Int16Array): number;
  /** Most samples for `inputLength` samples of input. */
  maxOutput(inputLength: number): number;
}

/**
 * Up by `factor`: each branch of the polyphase filter makes one of an input sample's output samples.
 *
 * @param maxInput - Most samples in one call; memory is allocated once.
 */
export function createUpsampler(factor: 2 | 3, maxInput: number): Stage {
  const taps = branchesOf(factor);
  const reach = taps[0]?.length ?? 0;
  const branches = taps.map((own) => createConvolver(own, 1, maxInput));
  const history = new Float64Array(reach - 1 + maxInput);
  const sums = sumsFor(maxInput);
  return {
    process(input, inputLength, output) {
      append(history, reach - 1, input, inputLength);
      for (const [branch, { convolve }] of branches.entries()) {
        convolve(sums, history, 0, inputLength);
        for (let n = 0; n < inputLength; n++) output[n * factor + branch] = toInt16(sums[n] ?? 0);
      }
      history.copyWithin(0, inputLength, inputLength + reach - 1);
      return inputLength * factor;
    },
    maxOutput: (inputLength) => inputLength * factor,
  };
}

/**
 * Down by `factor`: only the output samples are computed.
 *
 * @param maxInput - Most samples in one call; memory is allocated once.
 */
export function createDownsampler(factor: 2 | 3, maxInput: number): Stage {
  const taps = designLowPass(factor);
  const reach = taps.length;
  const maxOutput = (inputLength: number) => Math.ceil(inputLength / factor);
  const { convolve } = createConvolver(taps, factor, maxOutput(maxInput));
  const history = new Float64Array(reach - 1 + maxInput);
  const sums = sumsFor(maxOutput(maxInput));
  /** Position of the next output's newest sample in the next input. */
  let next = 0;
  return {
    process(input, inputLength, output) {
      append(history, reach - 1, input, inputLength);
      const count = Math.max(0, Math.ceil((inputLength - next) / factor));
      convolve(sums, history, next, count);
      for (let n = 0; n < count; n++) output[n] = toInt16(sums[n] ?? 0);
      next += count * factor - inputLength;
      history.copyWithin(0, inputLength, inputLength + reach - 1);
      return count;
    },
    maxOutput,
  };
}

/** The filter's taps of each branch, newest input last, with the gain that inserted zeros take. */
function branchesOf(factor: number): readonly Float64Array[] {
  const taps = designLowPass(factor);
  const reach = Math.ceil(taps.length / factor);
  return Array.from({ length: factor }, (_, branch) =>
    Float64Array.from({ length: reach }, (__, n) => (taps[(reach - 1 - n) * factor + branch] ?? 0) * factor),
  );
}

export function append(history: Float64Array, offset: number, input: Int16Array, inputLength: number): void {
  for (let n = 0; n < inputLength; n++) history[offset + n] = input[n] ?? 0;
}

export function toInt16(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
