export type EnqueueResult =
  | {
      readonly accepted: true;
      /** Position of its first sample, unless the queue is cleared before. */
      readonly startPosition: number;
      /** The sender should pause until `onDrained`. */
      readonly isAboveHighWater: boolean;
    }
  /** Nothing was taken; offer the chunk again after `onDrained`, or in pieces that fit. */
  | { readonly accepted: false; readonly reason: 'full'; readonly roomSamples: number };

/** A chunk that was not played to its end when the queue was cleared. */
export interface ClearedChunk {
  readonly startPosition: number;
  readonly lengthSamples: number;
  /** The fade included. */
  readonly playedSamples: number;
}

export interface ClearReport {
  readonly chunks: readonly ClearedChunk[];
  readonly droppedSamples: number;
}

export interface FiredMark {
  readonly name: string;
  /** `played` when all audio before it was pulled, `cleared` when it was dropped with that audio. */
  readonly outcome: 'played' | 'cleared';
  /** Samples played when it fired. */
  readonly position: number;
}

export interface PlayoutOptions {
  readonly sampleRateHz: number;
  readonly capacityMs?: number;
  /** Senders are asked to pause above this level. */
  readonly highWaterMs?: number;
  /** Senders may resume below this level. */
  readonly lowWaterMs?: number;
  readonly onMark?: (mark: FiredMark) => void;
  /** The queue has fallen to the low-water mark after it was above the high one, or refused a chunk. */
  readonly onDrained?: () => void;
}

interface QueuedChunk {
  readonly samples: Int16Array;
  readonly startPosition: number;
  /** The faded end of cleared audio, which belongs to no chunk. */
  readonly isFade: boolean;
}

/** Speech is synthesised much faster than it is played. Two minutes is a very long turn, and 2 MB at 8 kHz. */
export const DEFAULT_CAPACITY_MS = 120_000;
export const DEFAULT_HIGH_WATER_MS = 60_000;
export const DEFAULT_LOW_WATER_MS = 20_000;
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
  readonly #capacity: number;
  readonly #highWater: number;
  readonly #lowWater: number;
  readonly #fadeSamples: number;
  readonly #onMark: (mark: FiredMark) => void;
  readonly #onDrained: () => void;
  #chunks: QueuedChunk[] = [];
  #marks: { readonly name: string; readonly position: number }[] = [];
  /** Played samples of the first chunk. */
  #offset = 0;
  #playedPosition = 0;
  #queuedSamples = 0;
  #isHolding = false;
  /** The last frame ended in speech, so that stopping now would click. */
  #isSounding = false;

  /** @throws {RangeError} When the water marks are not 0 < low < high <= capacity. */
  constructor(options: PlayoutOptions) {
    const {
      sampleRateHz,
      capacityMs = DEFAULT_CAPACITY_MS,
      highWaterMs = DEFAULT_HIGH_WATER_MS,
      lowWaterMs = DEFAULT_LOW_WATER_MS,
    } = options;
    if (!(lowWaterMs > 0 && lowWaterMs < highWaterMs && highWaterMs <= capacityMs)) {
      throw new RangeError(`water marks of ${lowWaterMs}, ${highWaterMs}, ${capacityMs} ms do not rise`);
    }
    const toSamples = (ms: number) => Math.round((ms * sampleRateHz) / 1000);
    this.#capacity = toSamples(capacityMs);
    this.#highWater = toSamples(highWaterMs);
    this.#lowWater = toSamples(lowWaterMs);
    this.#fadeSamples = toSamples(FADE_MS);
    this.#onMark = options.onMark ?? (() => {});
    this.#onDrained = options.onDrained ?? (() => {});
  }

  /** Samples played since the start; silence does not count. */
  get playedPosition(): number {
    return this.#playedPosition;
  }

  get queuedSamples(): number {
    return this.#queuedSamples;
  }

  enqueue(samples: Int16Array): EnqueueResult {
    const roomSamples = this.#capacity - this.#queuedSamples;
    if (samples.length > roomSamples || this.#chunks.length >= MAX_CHUNKS) {
      this.#isHolding = true;
      return { accepted: false, reason: 'full', roomSamples };
    }
    const startPosition = this.#playedPosition + this.#queuedSamples;
    if (samples.length > 0) this.#chunks.push({ samples, startPosition, isFade: false });
    this.#queuedSamples += samples.length;
    const isAboveHighWater = this.#queuedSamples > this.#highWater;
    this.#isHolding ||= isAboveHighWater;
    return { accepted: true, startPosition, isAboveHighWater };
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
      const count = Math.min(out.length - written, chunk.samples.length - this.#offset);
      for (let n = 0; n < count; n++) out[written + n] = chunk.samples[this.#offset + n] ?? 0;
      written += count;
      this.#offset += count;
      if (this.#offset === chunk.samples.length) this.#dropFirst();
    }
    out.fill(0, written);
    this.#isSounding = written === out.length;
    this.#playedPosition += written;
    this.#queuedSamples -= written;
    if (written > 0) {
      this.#fireMarks();
      this.#announceDrained();
    }
    return written;
  }

  /** Drops the queued audio and fires all marks. Current speech fades within 5 ms of the next frame, which count as played. */
  clear(): ClearReport {
    const fade = this.#takeFade();
    const end = this.#playedPosition + fade.length;
    const chunks = this.#chunks
      .filter((chunk) => !chunk.isFade)
      .map(({ startPosition, samples }) => ({
        startPosition,
        lengthSamples: samples.length,
        playedSamples: Math.max(0, Math.min(samples.length, end - startPosition)),
      }));
    const droppedSamples = this.#queuedSamples - fade.length;
    this.#chunks =
      fade.length === 0 ? [] : [{ samples: fade, startPosition: this.#playedPosition, isFade: true }];
    this.#offset = 0;
    this.#queuedSamples = fade.length;
    const marks = this.#marks;
    this.#marks = [];
    for (const { name } of marks) {
      this.#onMark({ name, outcome: 'cleared', position: this.#playedPosition });
    }
    this.#announceDrained();
    return { chunks, droppedSamples };
  }

  /** The next few samples, faded to silence; the rest of an earlier fade stays as it is. */
  #takeFade(): Int16Array {
    const [first] = this.#chunks;
    if (first === undefined || (!this.#isSounding && !first.isFade)) return new Int16Array(0);
    if (first.isFade) return first.samples.slice(this.#offset);
    const fade = new Int16Array(Math.min(this.#fadeSamples, this.#queuedSamples));
    let index = 0;
    let offset = this.#offset;
    for (let n = 0; n < fade.length; n++, offset++) {
      if (offset === this.#chunks[index]?.samples.length) {
        index++;
        offset = 0;
      }
      const gain = 1 - (n + 1) / (fade.length + 1);
      fade[n] = Math.round((this.#chunks[index]?.samples[offset] ?? 0) * gain);
    }
    return fade;
  }

  #dropFirst(): void {
    this.#chunks.shift();
    this.#offset = 0;
  }

  #fireMarks(): void {
    for (let mark = this.#marks[0]; mark !== undefined; mark = this.#marks[0]) {
      if (mark.position > this.#playedPosition) return;
      this.#marks.shift();
      this.#onMark({ name: mark.name, outcome: 'played', position: this.#playedPosition });
    }
  }

  #announceDrained(): void {
    if (!this.#isHolding || this.#queuedSamples > this.#lowWater) return;
    this.#isHolding = false;
    this.#onDrained();
  }
}
