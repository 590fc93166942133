import { parseWav, WAV_HEADER_BYTES } from '../wav.ts';

/** A recording's waveform: of each stretch of time the loudest sample of each channel. */
export interface RecordingPeaks {
  readonly intervalMs: number;
  /** A byte a stretch, 0 to 255, in base64. */
  readonly caller: string;
  readonly agent: string;
}

/** The smallest step, shorter than a syllable. */
const FINEST_MS = 20;
/** The most peaks of each channel: two hours in steps of 160 ms. */
const MAX_PEAKS = 50_000;
/** Samples of a longer stretch that are looked at: speech has its energy in low frequencies. */
const LOOKED_AT = 256;
const BYTES_PER_SAMPLE = 2;
const FRAME_BYTES = 2 * BYTES_PER_SAMPLE;

/**
 * Measures a stereo recording while it is read.
 *
 * @param totalBytes - The size of the whole file.
 * @throws {CallwayError} `wav_invalid` unless it begins like our recordings.
 */
export async function measurePeaks(
  file: AsyncIterable<Uint8Array>,
  totalBytes: number,
): Promise<RecordingPeaks> {
  let meter: PeakMeter | undefined;
  let rest: Uint8Array = new Uint8Array(0);
  for await (const bytes of file) {
    const given = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    if (!meter && given.length < WAV_HEADER_BYTES) {
      rest = given;
      continue;
    }
    const samples = meter ? given : given.subarray(WAV_HEADER_BYTES);
    meter ??= new PeakMeter(parseWav(given).sampleRateHz, totalBytes - WAV_HEADER_BYTES);
    rest = samples.subarray(meter.add(samples));
  }
  return (meter ?? new PeakMeter(8000, 0)).peaks;
}

/** Takes interleaved 16-bit samples, the caller's first. */
class PeakMeter {
  readonly #intervalMs: number;
  readonly #framesPerPeak: number;
  /** Frames from one that is looked at to the next. */
  readonly #stride: number;
  readonly #caller: Uint8Array;
  readonly #agent: Uint8Array;
  #frame = 0;

  constructor(sampleRateHz: number, dataBytes: number) {
    const frames = Math.floor(dataBytes / FRAME_BYTES);
    const durationMs = (frames * 1000) / sampleRateHz;
    this.#intervalMs = FINEST_MS * 2 ** Math.max(0, Math.ceil(Math.log2(durationMs / FINEST_MS / MAX_PEAKS)));
    this.#framesPerPeak = (sampleRateHz * this.#intervalMs) / 1000;
    this.#stride = Math.max(1, Math.floor(this.#framesPerPeak / LOOKED_AT));
    const count = Math.ceil(frames / this.#framesPerPeak);
    this.#caller = new Uint8Array(count);
    this.#agent = new Uint8Array(count);
  }

  /** @returns The number of bytes taken, in whole frames. */
  add(bytes: Uint8Array): number {
    const frames = Math.floor(bytes.length / FRAME_BYTES);
    const isAligned = bytes.byteOffset % BYTES_PER_SAMPLE === 0;
    const aligned = isAligned ? bytes : Uint8Array.from(bytes);
    const samples = new Int16Array(aligned.buffer, aligned.byteOffset, 2 * frames);
    for (let at = 0; at < frames; ) {
      const peak = Math.floor(this.#frame / this.#framesPerPeak);
      const end = Math.min(frames, at + (peak + 1) * this.#framesPerPeak - this.#frame);
      this.#measure(samples, at, end, peak);
      this.#frame += end - at;
      at = end;
    }
    return frames * FRAME_BYTES;
  }

  get peaks(): RecordingPeaks {
    const text = (peaks: Uint8Array) => Buffer.from(peaks).toString('base64');
    return { intervalMs: this.#intervalMs, caller: text(this.#caller), agent: text(this.#agent) };
  }

  #measure(samples: Int16Array, from: number, to: number, peak: number): void {
    let caller = this.#caller[peak] ?? 0;
    let agent = this.#agent[peak] ?? 0;
    for (let at = 2 * from; at < 2 * to; at += 2 * this.#stride) {
      const left = Math.abs(samples[at] ?? 0) >> 7;
      const right = Math.abs(samples[at + 1] ?? 0) >> 7;
      if (left > caller) caller = left;
      if (right > agent) agent = right;
    }
    // Behind its end nothing is stored: a file may have grown since its length was read.
    this.#caller[peak] = Math.min(255, caller);
    this.#agent[peak] = Math.min(255, agent);
  }
}
