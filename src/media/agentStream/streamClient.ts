import type { CallCommand, MediaEvents, StreamTarget, TransferStatus } from '../mediaSession.ts';
import type { MarkReport, PlayoutPosition } from '../playPosition.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import type { FailoverPrompts } from './failoverPlayer.ts';

/**
 * Opens the connection to an engine; the bridge implements it.
 *
 * @param receiver - Told of what the engine sends, from the moment the promise resolves.
 * @throws {CallwayError} 503 `engine_unavailable` when the engine cannot be reached in time, or refuses; the signal's
 *   reason when `signal` is aborted.
 */
export type ConnectStream = (request: StreamRequest, receiver: StreamHandler) => Promise<StreamClient>;

export interface StreamRequest {
  readonly target: StreamTarget;
  /** The codec's natural rate: what costs no resampling. The link says which rate it took. */
  readonly sampleRateHz: SampleRateHz;
  /** Aborted when the call ends meanwhile. */
  readonly signal: AbortSignal;
}

/**
 * One call's connection to its engine, as the call's session uses it. All samples and positions are at the link's own
 * rate; both directions have the same. Nothing here throws or blocks: what cannot be sent any more is let go.
 */
export interface StreamClient {
  readonly sampleRateHz: SampleRateHz;
  /** Handed over and not yet taken by the network; the session holds audio back while it is high. */
  readonly bufferedBytes: number;
  /**
   * The caller's next 20 ms.
   *
   * @param samples - Overwritten when the call has returned; take a copy of what is kept.
   * @param position - Samples sent before these: the stream's clock. Audio that was dropped is not counted.
   */
  sendAudio(samples: Int16Array, position: number): void;
  /** A key of the caller, once it was released. */
  sendDtmf(digit: string, durationMs: number): void;
  /** The peer hears nothing until it is over; what the engine says waits. */
  sendHold(isHeld: boolean): void;
  /** How a transfer goes that the engine, or the API, has asked for. */
  sendTransfer(progress: TransferStatus): void;
  /** Answers the engine's mark: all before it has left, or was cleared. */
  sendMark(mark: MarkReport): void;
  /** Answers the engine's clear, after the marks that it dropped. */
  sendCleared(position: PlayoutPosition): void;
  /**
   * Takes leave of the engine; `closed` is not announced after it. Idempotent.
   *
   * @param code - A WebSocket close code (RFC 6455 section 7.4).
   * @returns Resolves when the connection is closed, or was cut off because the engine did not answer. Never rejects.
   */
  close(code: number, reason: string): Promise<void>;
}

/** What an engine says, as calls into the session; valid until `closed`. None of them throws. */
export interface StreamHandler {
  /** Speech to play, at the link's rate, of any length; the array is the session's from now on. */
  audio(samples: Int16Array): void;
  /** Answered by `sendMark`. */
  mark(name: string): void;
  /** Stops what sounds within a frame and drops what waits; answered by `sendCleared`. */
  clear(): void;
  command(command: CallCommand): void;
  /** What is to be heard when the engine is gone, in place of what it left before; valid during the call only. */
  failoverPrompts(words: FailoverPrompts): void;
  /** Once, and nothing after it. */
  closed(end: MediaEvents['streamClosed']): void;
}
