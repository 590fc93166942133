/** The number of taps per block. */
const BLOCK = 4;
/** A windowed sinc's zeros in floating point are below this. */
const NEGLIGIBLE = 1e-12;

/** A filter that is applied at every `stride`-th sample of a stream. */
export interface Convolver {
  /**
   * Sets `sums[n]` to the sum of `taps[k] * samples[from + n * stride + k]`, in blocks of four: `sums` needs room for
   * three more.
   *
   * @param count - The number of samples, at most `maxCount`.
   */
  convolve(sums: Float64Array, samples: Float64Array, from: number, count: number): void;
}

/** The taps at every `stride`-th sample. */
interface Phase {
  readonly offset: number;
  /** The number of taps. */
  readonly length: number;
  /** The taps, filled up to whole blocks. */
  readonly taps: Float64Array;
}

/**
 * The samples are gathered by phase, so that those of neighbouring sums are adjacent: a block of sums and taps shares its
 * reads and takes a third of the time.
 *
 * @param maxCount - Most sums in one call; memory is allocated once.
 */
export function createConvolver(taps: Float64Array, stride: number, maxCount: number): Convolver {
  const phases = Array.from({ length: stride }, (_, offset) => phaseOf(taps, offset, stride));
  const longest = Math.max(...phases.map((phase) => phase.taps.length));
  const gathered = new Float64Array(maxCount + longest + BLOCK);
  return {
    convolve(sums, samples, from, count) {
      sums.fill(0, 0, count);
      for (const { offset, length, taps } of phases) {
        gather(samples, from + offset, stride, gathered, length === 0 ? 0 : count + length - 1);
        if (length === 1) addScaled(sums, gathered, taps[0] ?? 0, count);
        else addProducts(sums, gathered, taps, count);
      }
    },
  };
}

function gather(
  samples: Float64Array,
  from: number,
  stride: number,
  gathered: Float64Array,
  count: number,
): void {
  if (stride === 1) gathered.set(samples.subarray(from, from + count));
  else for (let n = 0, at = from; n < count; n++, at += stride) gathered[n] = samples[at] ?? 0;
}

function addScaled(sums: Float64Array, samples: Float64Array, tap: number, count: number): void {
  for (let n = 0; n < count; n++) sums[n] = (sums[n] ?? 0) + tap * (samples[n] ?? 0);
}

/** Returns a branch of a polyphase filter without its outer zeros; one branch is a plain delay. */
function phaseOf(taps: Float64Array, offset: number, stride: number): Phase {
  const own = taps.filter((_, n) => n % stride === offset);
  const first = own.findIndex(isFelt);
  const last = own.findLastIndex(isFelt);
  const felt = own.subarray(Math.max(0, first), last + 1);
  const blocks = new Float64Array(BLOCK * Math.ceil(felt.length / BLOCK));
  blocks.set(felt);
  return { offset: offset + Math.max(0, first) * stride, length: felt.length, taps: blocks };
}

function isFelt(tap: number): boolean {
  return Math.abs(tap) > NEGLIGIBLE;
}

/** Four sums by four taps from seven samples, all in variables: arrays take twice the time. */
function addProducts(sums: Float64Array, samples: Float64Array, taps: Float64Array, count: number): void {
  for (let n = 0; n < count; n += BLOCK) {
    let sum0 = 0;
    let sum1 = 0;
    let sum2 = 0;
    let sum3 = 0;
    let x0 = samples[n] ?? 0;
    let x1 = samples[n + 1] ?? 0;
    let x2 = samples[n + 2] ?? 0;
    for (let k = 0; k < taps.length; k += BLOCK) {
      const at = n + k + BLOCK;
      const tap0 = taps[k] ?? 0;
      const tap1 = taps[k + 1] ?? 0;
      const tap2 = taps[k + 2] ?? 0;
      const tap3 = taps[k + 3] ?? 0;
      const x3 = samples[at - 1] ?? 0;
      const x4 = samples[at] ?? 0;
      const x5 = samples[at + 1] ?? 0;
      const x6 = samples[at + 2] ?? 0;
      sum0 += tap0 * x0 + tap1 * x1 + tap2 * x2 + tap3 * x3;
      sum1 += tap0 * x1 + tap1 * x2 + tap2 * x3 + tap3 * x4;
      sum2 += tap0 * x2 + tap1 * x3 + tap2 * x4 + tap3 * x5;
      sum3 += tap0 * x3 + tap1 * x4 + tap2 * x5 + tap3 * x6;
      x0 = x4;
      x1 = x5;
      x2 = x6;
    }
    sums[n] = (sums[n] ?? 0) + sum0;
    sums[n + 1] = (sums[n + 1] ?? 0) + sum1;
    sums[n + 2] = (sums[n + 2] ?? 0) + sum2;
    sums[n + 3] = (sums[n + 3] ?? 0) + sum3;
  }
}

/** Room for `count` sums in whole blocks. */
export function sumsFor(count: number): Float64Array {
  return new Float64Array(count + BLOCK - 1);
}
