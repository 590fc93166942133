export interface FiredMark {
  readonly name: string;
  /** `played` when all audio before it was pulled, `cleared` when it was dropped with that audio. */
  readonly outcome: 'played' | 'cleared';
  /** Samples played when it fired. */
  readonly position: number;
}

export interface PlayoutOptions {
  readonly sampleRateHz: number;
  readonly onMark: (mark: FiredMark) => void;
}

/** Speech is synthesised much faster than it is played. Two minutes is a very long turn, and 2 MB at 8 kHz. */
const CAPACITY_MS = 120_000;
/** Long enough to avoid a click, short enough to be inaudible. */
const FADE_MS = 5;
/** Limits memory. */
const MAX_MARKS = 1000;
/** Two minutes in chunks of 6 ms; limits the time of moving them. */
const MAX_CHUNKS = 20_000;

/**
 * The agent's speech on its way to the caller: chunks of any length in, frames out on the clock, and the played position
 * to the sample. Positions count played samples since the start.
 *
 * The queue owns the arrays it is given and does not copy them.
 */
export class PlayoutQueue {
  readonly #capacitySamples: number;
  readonly #fadeSamples: number;
  readonly #onMark: (mark: FiredMark) => void;
  #chunks: Int16Array[] = [];
  #marks: { readonly name: string; readonly position: number }[] = [];
  /** Played samples of the first chunk. */
  #offset = 0;
  #playedPosition = 0;
  #queuedSamples = 0;
  /** The last frame ended in speech, so that stopping now would click. */
  #isSounding = false;
  /** The first chunk is the faded end of cleared audio. */
  #isFading = false;

  constructor({ sampleRateHz, onMark }: PlayoutOptions) {
    this.#capacitySamples = (CAPACITY_MS * sampleRateHz) / 1000;
    this.#fadeSamples = (FADE_MS * sampleRateHz) / 1000;
    this.#onMark = onMark;
  }

  /** Samples played since the start; silence does not count. */
  get playedPosition(): number {
    return this.#playedPosition;
  }

  get queuedSamples(): number {
    return this.#queuedSamples;
  }

  /** @returns Queued samples; the rest is above the capacity and dropped. */
  enqueue(samples: Int16Array): number {
    if (this.#chunks.length >= MAX_CHUNKS) return 0;
    const queued = samples.subarray(0, this.#capacitySamples - this.#queuedSamples);
    if (queued.length > 0) this.#chunks.push(queued);
    this.#queuedSamples += queued.length;
    return queued.length;
  }

  /**
   * Sets a mark behind all queued audio; it fires at once when the queue is empty.
   *
   * @returns False when there are too many marks, and this one is not set.
   */
  mark(name: string): boolean {
    if (this.#marks.length >= MAX_MARKS) return false;
    this.#marks.push({ name, position: this.#playedPosition + this.#queuedSamples });
    this.#fireMarks();
    return true;
  }

  /** Fills the frame with speech, then silence. @returns Samples of speech. */
  pull(out: Int16Array): number {
    let written = 0;
    while (written < out.length) {
      const chunk = this.#chunks[0];
      if (chunk === undefined) break;
      const count = Math.min(out.length - written, chunk.length - this.#offset);
      for (let n = 0; n < count; n++) out[written + n] = chunk[this.#offset + n] ?? 0;
      written += count;
      this.#offset += count;
      if (this.#offset === chunk.length) this.#dropFirst();
    }
    out.fill(0, written);
    this.#isSounding = written === out.length;
    this.#playedPosition += written;
    this.#queuedSamples -= written;
    if (written > 0) this.#fireMarks();
    return written;
  }

  /** Drops the queued audio and fires all marks. Current speech fades within 5 ms of the next frame, which count as played. */
  clear(): void {
    const fade = this.#takeFade();
    this.#isFading = fade.length > 0;
    this.#chunks = this.#isFading ? [fade] : [];
    this.#offset = 0;
    this.#queuedSamples = fade.length;
    const marks = this.#marks;
    this.#marks = [];
    for (const { name } of marks) {
      this.#onMark({ name, outcome: 'cleared', position: this.#playedPosition });
    }
  }

  /** The next few samples, faded to silence; the rest of an earlier fade stays as it is. */
  #takeFade(): Int16Array {
    const [first] = this.#chunks;
    if (first !== undefined && this.#isFading) return first.slice(this.#offset);
    if (!this.#isSounding) return new Int16Array(0);
    const fade = new Int16Array(Math.min(this.#fadeSamples, this.#queuedSamples));
    let index = 0;
    let offset = this.#offset;
    for (let n = 0; n < fade.length; n++, offset++) {
      if (offset === this.#chunks[index]?.length) {
        index++;
        offset = 0;
      }
      const gain = 1 - (n + 1) / (fade.length + 1);
      fade[n] = Math.round((this.#chunks[index]?.[offset] ?? 0) * gain);
    }
    return fade;
  }

  #dropFirst(): void {
    this.#chunks.shift();
    this.#offset = 0;
    this.#isFading = false;
  }

  #fireMarks(): void {
    for (let mark = this.#marks[0]; mark !== undefined; mark = this.#marks[0]) {
      if (mark.position > this.#playedPosition) return;
      this.#marks.shift();
      this.#onMark({ name: mark.name, outcome: 'played', position: this.#playedPosition });
    }
  }
}
