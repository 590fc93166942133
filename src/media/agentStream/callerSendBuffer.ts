import type { StreamClient } from './streamClient.ts';

/** One second. Older audio is of no use in a conversation. */
const MAX_HELD_FRAMES = 50;

/**
 * The caller's frames on their way to the agent. While the agent is behind, the latest second is held and older frames are
 * dropped.
 */
export class CallerSendBuffer {
  /** The stream's clock: samples handed to the client. */
  sentSamples = 0;
  droppedFrames = 0;
  readonly #client: StreamClient;
  readonly #frameSamples: number;
  /** A ring of frames, allocated on first use: most connections are never slow. */
  #held: Int16Array | undefined;
  #first = 0;
  #count = 0;

  constructor(client: StreamClient, frameSamples: number) {
    this.#client = client;
    this.#frameSamples = frameSamples;
  }

  /** @param frame - Copied if it is held. */
  send(frame: Int16Array): void {
    while (this.#count > 0 && !this.#client.isBehind) {
      this.#pass(this.#slot(this.#first));
      this.#dropOldest();
    }
    if (this.#count === 0 && !this.#client.isBehind) this.#pass(frame);
    else this.#hold(frame);
  }

  #pass(frame: Int16Array): void {
    const position = this.sentSamples;
    this.sentSamples += frame.length;
    this.#client.toAgent.audio(frame, position);
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
