import type { MarkOutcome } from './messages.ts';

interface Mark {
  readonly name: string;
  /** Samples that are played before it. */
  readonly at: number;
}

/** The agent's samples that are still to be played, with the marks between them. */
export class Playout {
  readonly #onMark: (name: string, outcome: MarkOutcome) => void;
  readonly #chunks: Float32Array[] = [];
  #marks: Mark[] = [];
  #queued = 0;
  /** Since the beginning, silence not counted. */
  played = 0;

  constructor(onMark: (name: string, outcome: MarkOutcome) => void) {
    this.#onMark = onMark;
  }

  /** Queues samples, which it keeps. */
  play(samples: Float32Array): void {
    this.#chunks.push(samples);
    this.#queued += samples.length;
  }

  mark(name: string): void {
    this.#marks.push({ name, at: this.played + this.#queued });
    this.#tell();
  }

  clear(): void {
    const dropped = this.#marks;
    this.#marks = [];
    this.#chunks.length = 0;
    this.#queued = 0;
    for (const { name } of dropped) this.#onMark(name, 'cleared');
  }

  /** Fills the array with the next samples, then with silence. */
  next(output: Float32Array): void {
    let filled = 0;
    while (filled < output.length) {
      const [chunk] = this.#chunks;
      if (chunk === undefined) break;
      const part = chunk.subarray(0, output.length - filled);
      output.set(part, filled);
      filled += part.length;
      if (part.length === chunk.length) this.#chunks.shift();
      else this.#chunks[0] = chunk.subarray(part.length);
    }
    output.fill(0, filled);
    this.#queued -= filled;
    this.played += filled;
    this.#tell();
  }

  #tell(): void {
    while (this.#marks[0] !== undefined && this.#marks[0].at <= this.played) {
      const [{ name }] = this.#marks.splice(0, 1) as [Mark];
      this.#onMark(name, 'played');
    }
  }
}
