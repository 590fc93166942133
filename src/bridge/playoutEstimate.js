export function createPlayoutEstimate() {
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
