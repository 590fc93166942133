import type { SampleRateHz } from '../resample/resampler.ts';

/** What a call hears where its engine says nothing, and what hears the call's peer in turn. */
export interface BridgePeer {
  /** The peer's next 20 ms, at the call's rate. */
  say(frame: Int16Array): void;
  /**
   * Fills the frame with the next 20 ms for the peer, or silence.
   *
   * @param frame - 20 ms at the call's rate.
   * @returns Whether there is sound in it.
   */
  hear(frame: Int16Array): boolean;
  /** A key of the peer's, once it was released. */
  press(digit: string): void;
  /** The call goes on with another codec. */
  changeRate(sampleRateHz: SampleRateHz): void;
  /** The call has this neighbour no longer. */
  leave(): void;
}
