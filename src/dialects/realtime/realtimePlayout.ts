import type { PlayoutPosition } from '../../media/agentStream/streamClient.ts';
import { PlayoutEstimate } from '../playoutEstimate.ts';

/** Answers whose heard part a client may still report. */
const MAX_ITEMS = 20;

interface SentItem {
  /** Where its audio begins, in played samples. */
  readonly from: number;
  samples: number;
}

/**
 * What a client plays, which reports nothing but where it truncated an answer: one sample for each of the caller's.
 */
export class RealtimePlayout {
  readonly #onPlayed: (mark: string) => void;
  readonly #items = new Map<string, SentItem>();
  readonly #estimate = new PlayoutEstimate();
  #queuedSamples = 0;
  #marks: { readonly name: string; readonly position: number }[] = [];

  constructor(onPlayed: (mark: string) => void) {
    this.#onPlayed = onPlayed;
  }

  get isPlaying(): boolean {
    return this.#queuedSamples > this.#played;
  }

  get position(): PlayoutPosition {
    return this.#estimate.position;
  }

  /** @param itemId - The answer that the samples belong to. */
  queue(itemId: string, samples: number): void {
    const item = this.#items.get(itemId);
    if (item) item.samples += samples;
    else this.#items.set(itemId, { from: this.#queuedSamples, samples });
    const [oldest] = this.#items.keys();
    if (oldest !== undefined && this.#items.size > MAX_ITEMS) this.#items.delete(oldest);
    this.#queuedSamples += samples;
    this.#estimate.queued(samples);
  }

  mark(name: string): void {
    this.#marks.push({ name, position: this.#queuedSamples });
    this.#fireMarks();
  }

  received(samples: number): void {
    this.#estimate.received(samples);
    this.#fireMarks();
  }

  clear(): void {
    this.#marks = [];
    this.#estimate.cleared();
    this.#queuedSamples = this.#played;
  }

  /** @returns The position at which so much of an answer was played; undefined where it has less audio, or is unknown. */
  positionIn(itemId: string, samples: number): PlayoutPosition | undefined {
    const item = this.#items.get(itemId);
    if (!item || samples > item.samples) return undefined;
    return { ...this.position, playedSamples: item.from + samples };
  }

  get #played(): number {
    return this.position.playedSamples;
  }

  #fireMarks(): void {
    for (let mark = this.#marks[0]; mark && mark.position <= this.#played; mark = this.#marks[0]) {
      this.#marks.shift();
      this.#onPlayed(mark.name);
    }
  }
}
