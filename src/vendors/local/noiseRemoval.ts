import type { NoiseSuppression, NoiseSuppressor } from '../../models/ports/noiseSuppression.ts';
import { VAD_FRAME_MS } from '../../models/ports/voiceActivity.ts';

/** Removes the noise of one utterance, whose audio comes in pieces of any length. */
export class NoiseRemoval {
  readonly #frame: Int16Array;
  readonly #onCleaned: (frame: Int16Array) => void;
  readonly #opened: Promise<void>;
  #filled = 0;
  /** The frames that arrived before the suppressor was ready. */
  #waiting: Int16Array[] | undefined = [];
  #suppressor: NoiseSuppressor | undefined;
  #isClosed = false;

  /** @param onCleaned - Gets each 20 ms, valid during the call only. */
  constructor(suppression: NoiseSuppression, sampleRateHz: number, onCleaned: (frame: Int16Array) => void) {
    this.#frame = new Int16Array((sampleRateHz * VAD_FRAME_MS) / 1000);
    this.#onCleaned = onCleaned;
    this.#opened = suppression.open(sampleRateHz).then(
      (suppressor) => this.#start(suppressor),
      // Recognition with noise is better than none.
      () => this.#start(undefined),
    );
  }

  /** Resolves once everything that was pushed has been passed on. */
  get settled(): Promise<void> {
    return this.#opened;
  }

  push(samples: Int16Array): void {
    for (let at = 0; at < samples.length; ) {
      const count = Math.min(this.#frame.length - this.#filled, samples.length - at);
      this.#frame.set(samples.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled < this.#frame.length) return;
      this.#filled = 0;
      if (this.#waiting) this.#waiting.push(this.#frame.slice());
      else this.#clean(this.#frame);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#suppressor?.close();
    this.#suppressor = undefined;
  }

  #start(suppressor: NoiseSuppressor | undefined): void {
    if (this.#isClosed) {
      suppressor?.close();
      return;
    }
    this.#suppressor = suppressor;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const frame of waiting) this.#clean(frame);
  }

  #clean(frame: Int16Array): void {
    this.#onCleaned(this.#suppressor?.process(frame) ?? frame);
  }
}
