import { createResampler, isSampleRate, type Resampler } from '../../media/resample/resampler.ts';

/** The longest audio that is pushed at once. */
const MAX_PUSHED_MS = 1000;

export interface ChunkLengths {
  /** The length of one audio message. */
  readonly chunkMs: number;
  /** A shorter message is refused. Default: none. */
  readonly minChunkMs?: number;
}

/** Cuts audio into messages of one length, at the vendor's rate. */
export class AudioChunks {
  readonly #resampler: Resampler | undefined;
  readonly #resampled: Int16Array;
  readonly #chunk: Int16Array;
  readonly #minLength: number;
  #filled = 0;

  constructor(
    inputRateHz: number,
    outputRateHz: 8000 | 16000 | 24000,
    { chunkMs, minChunkMs = 0 }: ChunkLengths,
  ) {
    if (!isSampleRate(inputRateHz)) throw new RangeError(`no resampler for ${inputRateHz} Hz`);
    const maxInput = (inputRateHz * MAX_PUSHED_MS) / 1000;
    if (inputRateHz !== outputRateHz) this.#resampler = createResampler(inputRateHz, outputRateHz, maxInput);
    this.#resampled = new Int16Array(this.#resampler?.maxOutput(maxInput) ?? 0);
    this.#chunk = new Int16Array((outputRateHz * chunkMs) / 1000);
    this.#minLength = Math.max(1, (outputRateHz * minChunkMs) / 1000);
  }

  *push(samples: Int16Array): Iterable<Int16Array> {
    const resampled = this.#resample(samples);
    for (let at = 0; at < resampled.length; ) {
      const count = Math.min(this.#chunk.length - this.#filled, resampled.length - at);
      this.#chunk.set(resampled.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled < this.#chunk.length) return;
      this.#filled = 0;
      yield this.#chunk;
    }
  }

  /** Returns the remaining samples if they are enough for one message. */
  flush(): Int16Array | undefined {
    if (this.#filled < this.#minLength) return undefined;
    const rest = this.#chunk.subarray(0, this.#filled);
    this.#filled = 0;
    return rest;
  }

  #resample(samples: Int16Array): Int16Array {
    if (!this.#resampler) return samples;
    return this.#resampled.subarray(0, this.#resampler.process(samples, this.#resampled));
  }
}
