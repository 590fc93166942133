import type { PlayoutPosition } from '../media/agentStream/streamClient.ts';

/**
 * Playout at a gateway that reports no positions: it is taken to play one sample of what it was sent for each sample
 * that it sends.
 */
export class PlayoutEstimate {
  #queuedSamples = 0;
  #playedSamples = 0;
  #receivedSamples = 0;

  queued(samples: number): void {
    this.#queuedSamples += samples;
  }

  received(samples: number): void {
    this.#receivedSamples += samples;
    const played = Math.min(this.#queuedSamples, samples);
    this.#playedSamples += played;
    this.#queuedSamples -= played;
  }

  cleared(): void {
    this.#queuedSamples = 0;
  }

  get position(): PlayoutPosition {
    return { playedSamples: this.#playedSamples, receivedSamples: this.#receivedSamples, bufferDelayMs: 0 };
  }
}
