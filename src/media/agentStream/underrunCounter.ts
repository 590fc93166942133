/** 200 ms. A longer silence is a pause of the speaker, or the end of the turn. */
const MAX_GAP_FRAMES = 10;

/**
 * Counts gaps in speech that arrives too slowly: a frame had too few samples, and more came within 200 ms. A mark or a
 * clear ends the speech, so that no gap follows.
 */
export class UnderrunCounter {
  count = 0;
  #isSpeaking = false;
  #gapFrames = 0;

  /** More speech has arrived. */
  received(): void {
    if (this.#gapFrames > 0) this.count++;
    this.#gapFrames = 0;
    this.#isSpeaking = true;
  }

  /** The speech is complete. */
  ended(): void {
    this.#isSpeaking = false;
    this.#gapFrames = 0;
  }

  /** Call before each frame is filled from the queue. */
  pulling(queuedSamples: number, frameSamples: number): void {
    if (!this.#isSpeaking || queuedSamples >= frameSamples) return;
    this.#gapFrames++;
    if (this.#gapFrames > MAX_GAP_FRAMES) this.ended();
  }
}
