/** A silence that is longer is a pause of the speaker's own, or the end: 200 ms. */
const MAX_GAP_FRAMES = 10;

/**
 * Counts the holes in speech that comes too slowly: a frame was to be filled and too little was there, and more came
 * within 200 ms. What ends by a mark or a clear is said, and no hole follows it.
 */
export class UnderrunCounter {
  count = 0;
  #isSpeaking = false;
  #gapFrames = 0;

  /** More speech is there. */
  came(): void {
    if (this.#gapFrames > 0) this.count++;
    this.#gapFrames = 0;
    this.#isSpeaking = true;
  }

  /** All that was said is over. */
  ended(): void {
    this.#isSpeaking = false;
    this.#gapFrames = 0;
  }

  /** A frame is to be filled from so many samples that wait. */
  pulling(waitingSamples: number, frameSamples: number): void {
    if (!this.#isSpeaking || waitingSamples >= frameSamples) return;
    this.#gapFrames++;
    if (this.#gapFrames > MAX_GAP_FRAMES) this.ended();
  }
}
