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
  const sums = new Float64Array(maxInput);
  return {
    process(input, inputLength, output) {
      append(history, reach - 1, input, inputLength);
      for (let branch = 0; branch < factor; branch++) {
        const taps = branches[branch];
        if (taps === undefined) delayInto(output, branch, factor, history, reach >> 1, inputLength);
        else {
          convolve(sums, history, taps, { from: 0, stride: 1, count: inputLength });
          for (let n = 0; n < inputLength; n++) output[n * factor + branch] = toInt16(sums[n] ?? 0);
        }
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
  const offsets = Array.from({ length: half }, (_, n) => n).filter((n) => (half - n) % factor !== 0);
  const history = new Float64Array(reach - 1 + maxInput);
  const sums = new Float64Array(Math.ceil(maxInput / factor));
  /** Where in the next input the next output's newest sample lies. */
  let next = 0;
  return {
    process(input, inputLength, output) {
      append(history, reach - 1, input, inputLength);
      const count = Math.max(0, Math.ceil((inputLength - next) / factor));
      const centre = taps[half] ?? 0;
      for (let n = 0; n < count; n++) sums[n] = centre * (history[next + half + n * factor] ?? 0);
      for (const offset of offsets) {
        addPair(sums, history, next + offset, next + reach - 1 - offset, factor, taps[offset] ?? 0, count);
      }
      for (let n = 0; n < count; n++) output[n] = toInt16(sums[n] ?? 0);
      next += count * factor - inputLength;
      history.copyWithin(0, inputLength, inputLength + reach - 1);
      return count;
    },
    maxOutput: (inputLength) => Math.ceil(inputLength / factor),
  };
}

/** Adds the two taps that lie alike on both sides of the centre. */
function addPair(
  sums: Float64Array,
  history: Float64Array,
  earlier: number,
  later: number,
  stride: number,
  weight: number,
  count: number,
): void {
  for (let n = 0, at = 0; n < count; n++, at += stride) {
    sums[n] = (sums[n] ?? 0) + weight * ((history[earlier + at] ?? 0) + (history[later + at] ?? 0));
  }
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

/** Where in the history the sums begin, and how far one is from the next. */
export interface Walk {
  readonly from: number;
  readonly stride: number;
  readonly count: number;
}

/**
 * Tap by tap rather than sample by sample: sums that do not wait for each other take half the time.
 *
 * @param taps - A multiple of four.
 */
export function convolve(
  sums: Float64Array,
  history: Float64Array,
  taps: Float64Array,
  { from, stride, count }: Walk,
): void {
  sums.fill(0, 0, count);
  for (let k = 0; k < taps.length; k += 4) {
    const [first, second, third, fourth] = [
      taps[k] ?? 0,
      taps[k + 1] ?? 0,
      taps[k + 2] ?? 0,
      taps[k + 3] ?? 0,
    ];
    for (let n = 0, at = from + k; n < count; n++, at += stride) {
      sums[n] =
        (sums[n] ?? 0) +
        first * (history[at] ?? 0) +
        second * (history[at + 1] ?? 0) +
        third * (history[at + 2] ?? 0) +
        fourth * (history[at + 3] ?? 0);
    }
  }
}

export function append(history: Float64Array, offset: number, input: Int16Array, inputLength: number): void {
  for (let n = 0; n < inputLength; n++) history[offset + n] = input[n] ?? 0;
}

export function toInt16(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
