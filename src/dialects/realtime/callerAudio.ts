import { FRAME_MS } from '../../media/codecs/codec.ts';
import type { SampleRateHz } from '../../media/resample/resampler.ts';
import { base64Reader } from '../wire/audio.ts';
import { streamResampler } from '../wire/streamResampler.ts';
import type { RealtimeFormat } from './realtimeSession.ts';

/** Network jitter may delay audio as long. */
const IDLE_FRAMES = 20;
/** The silence after a committed turn: more than any endpointing delay. */
const COMMIT_SILENCE_MS = 3000;
const MIN_COMMIT_MS = 100;
/** Below what a stream may be ahead of real time. */
const MAX_AHEAD_MS = 50_000;

/** The caller's audio: as it comes, or when it is committed; and silence in between, which is the stream's clock. */
export class CallerAudio {
  readonly #sampleRateHz: SampleRateHz;
  readonly #silence: Int16Array;
  #format: RealtimeFormat | undefined;
  #decode: ReturnType<typeof base64Reader> = () => undefined;
  #toStreamRate: (samples: Int16Array) => Int16Array = (samples) => samples;
  #buffer: Int16Array[] = [];
  #uncommittedSamples = 0;
  /** Since the last audio. */
  #idleFrames = IDLE_FRAMES;
  /** How far what was heard is ahead of real time. */
  #aheadSamples = 0;

  /** @param sampleRateHz - The sample rate of the stream. */
  constructor(sampleRateHz: SampleRateHz) {
    this.#sampleRateHz = sampleRateHz;
    this.#silence = new Int16Array((sampleRateHz * FRAME_MS) / 1000);
  }

  /**
   * @param isManual - It is heard when it is committed.
   * @returns What is heard now, valid until the next call; undefined when it is no base64 of samples, or the buffer is full.
   */
  append(audio: unknown, format: RealtimeFormat, isManual: boolean): readonly Int16Array[] | undefined {
    if (format !== this.#format) {
      this.#format = format;
      this.#decode = base64Reader(format.encoding);
      this.#toStreamRate = streamResampler(format.sampleRateHz, this.#sampleRateHz);
    }
    const decoded = this.#decode(audio);
    if (!decoded) return undefined;
    const samples = this.#toStreamRate(decoded);
    if (isManual && this.#uncommittedSamples + samples.length > this.#toSamples(MAX_AHEAD_MS))
      return undefined;
    this.#idleFrames = 0;
    this.#uncommittedSamples += samples.length;
    if (!isManual) return this.#heard([samples]);
    this.#buffer.push(samples.slice());
    return [];
  }

  /** @returns What is heard now, with the silence that ends the caller's turn; undefined when there is too little. */
  commit(): readonly Int16Array[] | undefined {
    if (this.#uncommittedSamples < this.#toSamples(MIN_COMMIT_MS)) return undefined;
    const audio = [...this.#buffer, new Int16Array(this.#toSamples(COMMIT_SILENCE_MS))];
    this.clear();
    return this.#heard(audio);
  }

  clear(): void {
    this.#buffer = [];
    this.#uncommittedSamples = 0;
  }

  /** Call every 20 ms. @returns What is heard in place of a client that sends nothing. */
  silence(): readonly Int16Array[] {
    const frame = this.#silence.length;
    this.#idleFrames++;
    this.#aheadSamples = Math.max(0, this.#aheadSamples - frame);
    if (this.#idleFrames <= IDLE_FRAMES || this.#aheadSamples > this.#toSamples(MAX_AHEAD_MS)) return [];
    // The stream's clock goes on at half its speed until real time has caught up.
    if (this.#aheadSamples > frame && this.#idleFrames % 2 === 1) return [];
    return this.#heard([this.#silence]);
  }

  #heard(audio: readonly Int16Array[]): readonly Int16Array[] {
    for (const { length } of audio) this.#aheadSamples += length;
    return audio;
  }

  #toSamples(ms: number): number {
    return (ms * this.#sampleRateHz) / 1000;
  }
}
