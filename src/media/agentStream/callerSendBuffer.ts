import type { StreamClient } from './streamClient.ts';

/** A healthy connection holds nothing; from here on it is slower than speech. Half a second at 16 kHz. */
const MAX_BUFFERED_BYTES = 16_384;
/** Frames kept back for it: a second. What is older is of no use in a conversation. */
const MAX_HELD_FRAMES = 50;

/**
 * The caller's frames on their way to the engine. While the engine is too slow a second of them is kept, the oldest
 * give way, and memory never grows.
 */
export class CallerSendBuffer {
  /** Samples handed to the link in all: the stream's clock. */
  sentSamples = 0;
  droppedFrames = 0;
  readonly #link: StreamClient;
  readonly #frameSamples: number;
  /** Made when it is first needed, which mostly is never. */
  #held: Int16Array | undefined;
  #first = 0;
  #count = 0;

  constructor(link: StreamClient, frameSamples: number) {
    this.#link = link;
    this.#frameSamples = frameSamples;
  }

  get heldFrames(): number {
    return this.#count;
  }

  /** @param frame - Copied where it must wait. */
  send(frame: Int16Array): void {
    while (this.#count > 0 && this.#link.bufferedBytes < MAX_BUFFERED_BYTES) this.#sendOldest();
    if (this.#count === 0 && this.#link.bufferedBytes < MAX_BUFFERED_BYTES) this.#pass(frame);
    else this.#hold(frame);
  }

  #sendOldest(): void {
    this.#pass(this.#slot(this.#first));
    this.#dropOldest();
  }

  #pass(frame: Int16Array): void {
    const position = this.sentSamples;
    this.sentSamples += frame.length;
    this.#link.sendAudio(frame, position);
  }

  #hold(frame: Int16Array): void {
    if (this.#count === MAX_HELD_FRAMES) {
      this.#dropOldest();
      this.droppedFrames++;
    }
    this.#slot((this.#first + this.#count) % MAX_HELD_FRAMES).set(frame);
    this.#count++;
  }

  #dropOldest(): void {
    this.#first = (this.#first + 1) % MAX_HELD_FRAMES;
    this.#count--;
  }

  #slot(index: number): Int16Array {
    this.#held ??= new Int16Array(MAX_HELD_FRAMES * this.#frameSamples);
    return this.#held.subarray(index * this.#frameSamples, (index + 1) * this.#frameSamples);
  }
}
