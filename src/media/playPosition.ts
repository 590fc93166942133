/** Where both directions of a stream stood at one tick of the media clock. */
export interface PlayoutPosition {
  /** Samples of the engine that had gone out in all. */
  readonly playedSamples: number;
  /** Samples of the caller that had been sent up in all. */
  readonly receivedSamples: number;
  /** What the jitter buffer held the caller's audio back by. */
  readonly bufferDelayMs: number;
}

export interface MarkReport extends PlayoutPosition {
  readonly name: string;
  readonly outcome: 'played' | 'cleared';
}
