import type { PlayoutPosition } from '../voice/audioStream.ts';

/**
 * Follows what a peer has played that does not tell: it plays what it has been sent, one sample for each that it sends
 * up. Twilio's messages carry marks, but no positions.
 */
export interface PlayoutEstimate {
  queued(samples: number): void;
  received(samples: number): void;
  /** @returns How many samples were dropped. */
  cleared(): number;
  position(): PlayoutPosition;
}

export function createPlayoutEstimate(): PlayoutEstimate {
  let waiting = 0;
  let playedSamples = 0;
  let receivedSamples = 0;
  return {
    queued(samples) {
      waiting += samples;
    },
    received(samples) {
      receivedSamples += samples;
      const played = Math.min(waiting, samples);
      playedSamples += played;
      waiting -= played;
    },
    cleared() {
      const dropped = waiting;
      waiting = 0;
      return dropped;
    },
    position: () => ({ playedSamples, receivedSamples, bufferDelayMs: 0 }),
  };
}
