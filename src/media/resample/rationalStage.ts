import { createConvolver, sumsFor } from './convolver.ts';
import { designLowPass } from './filter.ts';
import { append, type Stage, toInt16 } from './stage.ts';

/**
 * Changes the rate by `up / down`, as between 16 and 24 kHz, in one step: a polyphase filter at the common multiple of
 * both rates, of which only the output samples are computed.
 *
 * @param maxInput - Most samples in one call; memory is allocated once.
 */
export function createRationalStage(up: 2 | 3, down: 2 | 3, maxInput: number): Stage {
  const taps = branchesOf(up, Math.max(up, down));
  const reach = taps[0]?.length ?? 0;
  const maxOutput = (inputLength: number) => Math.ceil((inputLength * up) / down);
  const mostAlike = Math.ceil(maxOutput(maxInput) / up);
  const branches = taps.map((own) => createConvolver(own, down, mostAlike));
  const history = new Float64Array(reach - 1 + maxInput);
  const sums = sumsFor(mostAlike);
  /** Position of the next output, in samples of the common rate after the first new input. */
  let next = 0;
  return {
    process(input, inputLength, output) {
      append(history, reach - 1, input, inputLength);
      const total = Math.max(0, Math.ceil((inputLength * up - next) / down));
      // Every `up`-th output has the same phase, and so the same taps.
      for (let first = 0; first < Math.min(up, total); first++) {
        const place = next + first * down;
        const count = Math.ceil((total - first) / up);
        branches[place % up]?.convolve(sums, history, Math.floor(place / up), count);
        for (let n = 0; n < count; n++) output[first + n * up] = toInt16(sums[n] ?? 0);
      }
      next += total * down - inputLength * up;
      history.copyWithin(0, inputLength, inputLength + reach - 1);
      return total;
    },
    maxOutput,
  };
}

/** The taps of each phase; newest input last. */
function branchesOf(up: number, factor: number): readonly Float64Array[] {
  const taps = designLowPass(factor);
  const reach = Math.ceil(taps.length / up);
  return Array.from({ length: up }, (_, branch) =>
    Float64Array.from({ length: reach }, (__, n) => (taps[(reach - 1 - n) * up + branch] ?? 0) * up),
  );
}
