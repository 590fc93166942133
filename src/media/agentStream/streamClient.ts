import { z } from 'zod';
import type { SampleRateHz } from '../resample/resampler.ts';

/** An agent's audio stream that a call connects to. */
export interface StreamTarget {
  readonly url: string;
  /** Name of a registered stream dialect; opaque to the media threads. */
  readonly dialect: string;
  readonly streamId: string;
  readonly callId: string;
  /** Sent to the agent in the start message. */
  readonly customParameters: Readonly<Record<string, string>>;
  /** The headers of the connection's opening request: a user's own, and their credentials. */
  readonly headers?: Readonly<Record<string, string>>;
  /** When the connection breaks, the call asks for a new target; otherwise the break ends the call. */
  readonly canReconnect: boolean;
  /** Set for our own voice nodes. Any other address is a user's and is checked against the egress policy. */
  readonly isInternal?: true;
}

/** What an agent can ask of the call besides playing audio. */
export type CallCommand =
  /** `reason` is set when the agent has failed, or has not understood the caller. */
  | { readonly kind: 'hangup'; readonly reason?: HangupReason | undefined }
  /**
   * @property to - The first target.
   * @property options - Options have the names of the API, and are checked where the transfer is made.
   */
  | {
      readonly kind: 'transfer';
      readonly to: string;
      readonly options?: Readonly<Record<string, unknown>> | undefined;
    }
  /** A stream that tells a transfer target about the call has done so, or the target has answered in words. */
  | { readonly kind: 'briefing'; readonly outcome: BriefingOutcome }
  /** The supervisor's words with this number were begun, or will not be said any more. */
  | { readonly kind: 'said'; readonly number: number }
  /** The message on an answering machine begins: what was said over the greeting is not in it. */
  | { readonly kind: 'message_began' }
  /**
   * The caller has heard the disclosure with this id whole.
   *
   * @property messageMs - For an answering machine, the time since its message began.
   */
  | { readonly kind: 'disclosed'; readonly id: string; readonly messageMs?: number | undefined }
  | { readonly kind: 'send_dtmf'; readonly digits: string };

export const HANGUP_REASONS = ['error', 'not_understood'] as const;
export type HangupReason = (typeof HANGUP_REASONS)[number];

type BriefingOutcome = 'told' | 'accepted' | 'refused';

/**
 * Progress of a transfer, for the agent. While it is `waiting` for long, and once the target has `answered` and is told
 * about the call, the agent may speak to the caller. After `failed` the agent has the call again.
 */
export type TransferStatus =
  | { readonly status: 'begun' | 'waiting' | 'answered'; readonly to: string }
  | {
      readonly status: 'failed';
      readonly to: string;
      readonly reason: string;
      /** `refused`, `busy`, `no_answer` or `failed`. */
      readonly outcome?: string | undefined;
    };

/** The place of a text among what the call's supervisors asked, from 1; absent when it is told once. */
const number = z.number().optional();

/** What supervisors ask of the agent, as it crosses nodes and the agent's stream. */
export const agentControl = z.discriminatedUnion('kind', [
  /** To be said as it is. Told again to an agent that replaces one that has not begun it. */
  z.object({ kind: z.literal('say'), text: z.string(), number }),
  /** For the agent's next turns; not said. Told again to an agent that replaces one that may not have stored it. */
  z.object({ kind: z.literal('instruct'), text: z.string(), number }),
  /** While paused the agent listens, and neither speaks nor answers. */
  z.object({ kind: z.literal('pause'), isPaused: z.boolean() }),
  /** While a supervisor speaks in its place, the agent hears silence and is not heard. */
  z.object({ kind: z.literal('takeover'), isTakenOver: z.boolean() }),
]);

export type AgentControl = Readonly<z.infer<typeof agentControl>>;

/** What an agent is told beside the caller's audio and digits. The media threads only pass it on. */
export type AgentMessage = AgentControl | ({ readonly kind: 'transfer' } & TransferStatus);

/** What one side has said so far of what it is saying; once it is final, all of it as it was heard. */
export interface Caption {
  readonly speaker: 'caller' | 'agent';
  readonly text: string;
  readonly isFinal: boolean;
}

/** What a person at the peer asks of the agent otherwise than by voice. */
export type PeerRequest =
  /** A message that the person typed. */
  | { readonly kind: 'message'; readonly text: string }
  /** To answer what was said last, or to go on. */
  | { readonly kind: 'answer' }
  /** To stop speaking: what was heard so far stands. */
  | { readonly kind: 'stop' };

/** Both directions of a stream at one tick of the media clock. */
export interface PlayoutPosition {
  /** The agent's samples that were sent to the caller, since the stream's start. */
  readonly playedSamples: number;
  /** The caller's samples that were sent to the agent, since the stream's start. */
  readonly receivedSamples: number;
  /** Delay that the jitter buffer added to the caller's audio. */
  readonly bufferDelayMs: number;
  /** The peer itself tells what it has played, where it is estimated otherwise. */
  readonly isReported?: true;
}

/** The fate of a mark, and when it was decided. */
export interface MarkReport extends PlayoutPosition {
  readonly name: string;
  readonly outcome: 'played' | 'cleared';
}

/** Prompts that an agent leaves for the time after its own failure, at the stream's rate. Either may be empty. */
export interface FailoverPrompts {
  /** Played while another agent is being connected. */
  readonly waiting: Int16Array;
  /** Played when no other agent could be connected. */
  readonly apology: Int16Array;
}

/**
 * Opens an audio stream to an agent; implemented by `streams/`.
 *
 * @param handler - Called from the moment the promise resolves.
 * @throws {CallwayError} 503 `engine_unavailable` when the agent refuses or does not answer in time; the signal's
 *   reason when `signal` is aborted.
 */
export type ConnectStream = (request: StreamRequest, handler: StreamHandler) => Promise<StreamClient>;

export interface StreamRequest {
  readonly target: StreamTarget;
  /** The rate that needs the least resampling. The client's `sampleRateHz` is the rate in use. */
  readonly sampleRateHz: SampleRateHz;
  /** Aborted when the call ends meanwhile. */
  readonly signal: AbortSignal;
}

/** A call's open audio stream to its agent. Samples and positions of both directions are at `sampleRateHz`. */
export interface StreamClient {
  readonly sampleRateHz: SampleRateHz;
  /** The agent has a second of audio to read, so that what is sent now would be heard too late. */
  readonly isBehind: boolean;
  readonly toAgent: AgentMessages;
  /**
   * Closes the stream without a call of `closed`. Idempotent.
   *
   * @param code - A WebSocket close code (RFC 6455 section 7.4).
   * @returns Resolves when the connection is closed, or was terminated because the agent did not answer. Never rejects.
   */
  close(code: number, reason: string): Promise<void>;
}

/**
 * Messages to the agent. None throws or blocks; a message to a closed stream is dropped. A dialect without the message
 * leaves the optional member out.
 */
export interface AgentMessages {
  /**
   * The caller's next 20 ms.
   *
   * @param samples - Overwritten after the call returns.
   * @param position - Samples sent before these: the stream's clock. Dropped audio is not counted.
   */
  audio(samples: Int16Array, position: number): void;
  /** A digit that the caller has released. */
  dtmf(digit: string, durationMs: number): void;
  /** Answers the agent's mark. */
  mark(report: MarkReport): void;
  /** Answers the agent's clear, after the marks that it dropped. */
  cleared?(position: PlayoutPosition): void;
  /** While the call is held the caller hears nothing, and the agent's audio waits. */
  hold?(isHeld: boolean): void;
  tell?(message: AgentMessage): void;
}

/** Messages of the agent. None throws. */
export interface AgentMessageHandler {
  /** Speech to play, of any length. The handler owns the array. */
  audio(samples: Int16Array): void;
  /** Answered by `mark` when all audio before it has been sent or cleared. */
  mark(name: string): void;
  /** Stops playout within a frame and drops queued audio; answered by `cleared`. */
  clear(): void;
  command(command: CallCommand): void;
  /** Replaces earlier prompts. @param prompts - Valid during the call only. */
  failoverPrompts(prompts: FailoverPrompts): void;
}

export interface StreamHandler extends AgentMessageHandler {
  /** The agent's connection is gone. Called once, last. */
  closed(end: StreamEnd): void;
}

export interface StreamEnd {
  /** `stopped` when the agent closed the stream (code 1000 or none) or hung up, else `broken`. */
  readonly how: 'stopped' | 'broken';
  /** A WebSocket close code. */
  readonly code: number;
  readonly reason: string;
}
