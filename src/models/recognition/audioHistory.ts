/** The longest speech without a final word that can be recognized again. */
const MAX_SECONDS = 30;
/** Words are final some time after they were spoken: what is younger is kept. */
const KEPT_AFTER_FINAL_MS = 300;

/** The audio since the last words that were final. */
export class AudioHistory {
  readonly #sampleRateHz: number;
  #chunks: Int16Array[] = [];
  #length = 0;
  #startSamples = 0;

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz;
  }

  /** Position of the first kept sample in the stream. */
  get startMs(): number {
    return (this.#startSamples * 1000) / this.#sampleRateHz;
  }

  push(samples: Int16Array): void {
    this.#chunks.push(samples.slice());
    this.#length += samples.length;
    this.#keep(MAX_SECONDS * this.#sampleRateHz);
  }

  /** The words so far are final. */
  forget(): void {
    this.#keep((KEPT_AFTER_FINAL_MS * this.#sampleRateHz) / 1000);
  }

  /** Keeps only the last audio of this length. */
  keepLast(durationMs: number): void {
    this.#keep((durationMs * this.#sampleRateHz) / 1000);
  }

  chunks(): readonly Int16Array[] {
    return this.#chunks;
  }

  /** The last chunks, of this length together, and the position of the first one in the stream. */
  recent(durationMs: number): { readonly startMs: number; readonly chunks: readonly Int16Array[] } {
    const wanted = (durationMs * this.#sampleRateHz) / 1000;
    let length = 0;
    let first = this.#chunks.length;
    while (first > 0 && length < wanted) {
      first -= 1;
      length += this.#chunks[first]?.length ?? 0;
    }
    const startSamples = this.#startSamples + this.#length - length;
    return { startMs: (startSamples * 1000) / this.#sampleRateHz, chunks: this.#chunks.slice(first) };
  }

  #keep(samples: number): void {
    for (
      let first = this.#chunks[0];
      first && this.#length - first.length >= samples;
      first = this.#chunks[0]
    ) {
      this.#chunks.shift();
      this.#length -= first.length;
      this.#startSamples += first.length;
    }
  }
}
