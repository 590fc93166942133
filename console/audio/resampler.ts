/** Zero crossings of the low-pass filter on each side: flat to 90 % of the band, images 60 dB down. */
const ZERO_CROSSINGS = 16;
/** Positions of the filter between two samples; interpolated between. */
const PHASES = 256;

/** Resamples mono audio of any chunk size between two rates. */
export class Resampler {
  readonly #step: number;
  readonly #halfTaps: number;
  readonly #table: Float32Array;
  /** Input that later output still needs, and the position of the next output in it. */
  #input: Float32Array;
  #length: number;
  #position: number;

  constructor(fromHz: number, toHz: number) {
    this.#step = fromHz / toHz;
    const cutoff = Math.min(1, toHz / fromHz);
    this.#halfTaps = Math.ceil(ZERO_CROSSINGS / cutoff);
    this.#table = lowPass(this.#halfTaps, cutoff);
    this.#input = new Float32Array(4096);
    this.#length = this.#halfTaps;
    this.#position = this.#halfTaps;
  }

  /** @returns A new array. */
  process(samples: Float32Array): Float32Array {
    this.#append(samples);
    const last = this.#length - this.#halfTaps - 1;
    const count = Math.max(0, Math.floor((last - this.#position) / this.#step) + 1);
    const output = new Float32Array(count);
    for (let index = 0; index < count; index++) {
      output[index] = this.#at(this.#position);
      this.#position += this.#step;
    }
    this.#drop();
    return output;
  }

  #append(samples: Float32Array): void {
    const needed = this.#length + samples.length;
    if (needed > this.#input.length) {
      const larger = new Float32Array(needed * 2);
      larger.set(this.#input.subarray(0, this.#length));
      this.#input = larger;
    }
    this.#input.set(samples, this.#length);
    this.#length = needed;
  }

  #at(position: number): number {
    const center = Math.floor(position);
    const offset = (position - center) * PHASES;
    let sum = 0;
    for (let tap = 1 - this.#halfTaps; tap <= this.#halfTaps; tap++) {
      const place = Math.abs(tap * PHASES - offset);
      const below = Math.floor(place);
      const one = this.#table[below] ?? 0;
      const weight = one + ((this.#table[below + 1] ?? 0) - one) * (place - below);
      sum += (this.#input[center + tap] ?? 0) * weight;
    }
    return sum;
  }

  #drop(): void {
    const unneeded = Math.floor(this.#position) - this.#halfTaps;
    if (unneeded <= 0) return;
    this.#input.copyWithin(0, unneeded, this.#length);
    this.#length -= unneeded;
    this.#position -= unneeded;
  }
}

/** One half of a windowed sinc, which is symmetric. @param cutoff - Of the input's band, 0 to 1. */
function lowPass(halfTaps: number, cutoff: number): Float32Array {
  const table = new Float32Array(halfTaps * PHASES + 2);
  for (let index = 0; index < halfTaps * PHASES; index++) {
    const x = index / PHASES;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * x) / halfTaps);
    table[index] = cutoff * sinc(x * cutoff) * window;
  }
  return table;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}
