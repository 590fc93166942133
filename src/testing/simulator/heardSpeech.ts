import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import { StreamClosedError } from './listener.ts';

const FRAME_MS = 10;
/** Root mean square of a frame in which something is heard; codecs add less. */
const AUDIBLE_RMS = 150;

interface Wait {
  readonly condition: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Measures when the other party is heard, to a frame of 10 ms, on the stream's clock. It suits lines without noise on
 * that side.
 */
export class HeardSpeech {
  readonly #sampleRateHz: number;
  readonly #frameLength: number;
  readonly #waits = new Set<Wait>();
  readonly #removeListeners: readonly (() => void)[];
  #samples = 0;
  #filled = 0;
  #energy = 0;
  #firstAtMs: number | undefined;
  #lastAtMs: number | undefined;
  #end: unknown;

  constructor(stream: AudioStream) {
    this.#sampleRateHz = stream.info.sampleRateHz;
    this.#frameLength = (this.#sampleRateHz * FRAME_MS) / 1000;
    this.#removeListeners = [
      stream.events.on('audio', (samples) => this.#receive(samples)),
      stream.events.on('closed', () => this.stop(new StreamClosedError())),
    ];
  }

  get nowMs(): number {
    return (this.#samples * 1000) / this.#sampleRateHz;
  }

  /** The time of the first sound since `forget`. */
  get firstAtMs(): number | undefined {
    return this.#firstAtMs;
  }

  /** The end of the last sound since `forget`. */
  get lastAtMs(): number | undefined {
    return this.#lastAtMs;
  }

  /** The time since something was heard; Infinity when nothing was heard since `forget`. */
  get quietMs(): number {
    return this.#lastAtMs === undefined ? Number.POSITIVE_INFINITY : this.nowMs - this.#lastAtMs;
  }

  forget(): void {
    this.#firstAtMs = undefined;
    this.#lastAtMs = undefined;
  }

  /** Resolves when the condition holds; rejects with the reason of the end. */
  until(condition: () => boolean): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waits.add({ condition, resolve, reject }));
  }

  /** Idempotent; the first reason counts. */
  stop(reason: unknown): void {
    this.#end ??= reason;
    for (const remove of this.#removeListeners) remove();
    for (const { reject } of this.#waits) reject(this.#end);
    this.#waits.clear();
  }

  #receive(heard: Int16Array): void {
    for (const sample of heard) {
      this.#energy += sample * sample;
      this.#samples += 1;
      this.#filled += 1;
      if (this.#filled === this.#frameLength) this.#endFrame();
    }
    for (const wait of this.#waits) {
      if (!wait.condition()) continue;
      this.#waits.delete(wait);
      wait.resolve();
    }
  }

  #endFrame(): void {
    if (this.#energy >= AUDIBLE_RMS ** 2 * this.#frameLength) {
      this.#firstAtMs ??= this.nowMs - FRAME_MS;
      this.#lastAtMs = this.nowMs;
    }
    this.#filled = 0;
    this.#energy = 0;
  }
}
