import type { ErrorCategory } from '../../base/errors.ts';
import { CallwayError } from '../../base/errors.ts';
import type { AgentControl, StreamTarget, TransferStatus } from '../agentStream/streamClient.ts';
import type { Participation } from '../conference/participant.ts';
import type { MediaQuality } from '../mediaQuality.ts';
import type { DtmfDigit, MediaEvents, MediaParameters, MediaReport } from '../mediaSession.ts';
import type { CallAudioOptions } from '../session/callAudio.ts';
import type { MusicSource } from '../session/holdMusic.ts';
import type { SupervisorAddress, SupervisorRequest } from '../supervision/supervisorStream.ts';

/** A media thread's worker data. */
export interface MediaThreadData {
  /** A local address to listen on. */
  readonly address: string;
}

/** Requests to a media thread, by name: argument and result. Sessions are named by their numbers. */
export interface ThreadRequests {
  readonly open: [Omit<CallAudioOptions, 'address' | 'emit' | 'advanceTicks'>, undefined];
  readonly connect: [MediaParameters, undefined];
  readonly startStream: [StreamTarget, undefined];
  readonly awaitAgent: [undefined, undefined];
  readonly playApology: [undefined, undefined];
  readonly stopStream: [undefined, undefined];
  readonly sendTransferStatus: [TransferStatus, undefined];
  readonly controlAgent: [AgentControl, undefined];
  readonly admitSupervisor: [SupervisorRequest & { readonly participant?: number }, SupervisorAddress];
  readonly startRingback: [undefined, undefined];
  readonly bridge: [otherSession: number, undefined];
  readonly unbridge: [undefined, undefined];
  readonly join: [call: number, undefined];
  readonly setParticipation: [Participation, undefined];
  readonly startMusic: [MusicSource, undefined];
  readonly stopMusic: [undefined, undefined];
  readonly recordAside: [otherSession: number, undefined];
  readonly startRecording: [path: string, undefined];
  readonly pauseRecording: [isPaused: boolean, undefined];
  readonly sendDtmf: [digits: string, undefined];
  readonly receiveDtmf: [DtmfDigit, undefined];
  readonly quality: [undefined, MediaQuality];
  readonly close: [undefined, MediaReport];
}

export type ThreadRequestName = keyof ThreadRequests;

export type ThreadRequest = {
  [Name in ThreadRequestName]: {
    readonly kind: 'request';
    readonly requestId: number;
    readonly session: number;
    readonly name: Name;
    readonly argument: ThreadRequests[Name][0];
  };
}[ThreadRequestName];

export type ToThread =
  | ThreadRequest
  /** Answered with `pong`, unless the thread hangs. */
  | { readonly kind: 'ping' }
  /** Closes all sessions and ends the thread. */
  | { readonly kind: 'end' };

/** An event of a session. */
export type MediaThreadEvent = {
  [Name in keyof MediaEvents]: { readonly name: Name; readonly value: MediaEvents[Name] };
}[keyof MediaEvents];

export type FromThread =
  /** @property threadId - The operating system's id of the thread; undefined when there is none. */
  | { readonly kind: 'ready'; readonly threadId?: string | undefined }
  | { readonly kind: 'pong'; readonly statistics: ThreadStatistics }
  | { readonly kind: 'result'; readonly requestId: number; readonly result: unknown }
  | { readonly kind: 'failure'; readonly requestId: number; readonly failure: ThreadFailure }
  | { readonly kind: 'event'; readonly session: number; readonly event: MediaThreadEvent }
  /** A session's tick threw: a defect. */
  | { readonly kind: 'fault'; readonly session: number; readonly message: string };

/** The punctuality of a thread since its start. */
export interface ThreadStatistics {
  readonly sessions: number;
  /** True when the thread has raised scheduling priority. */
  readonly hasPriority: boolean;
  /** The ticks whose packets were sent. */
  readonly ticks: number;
  /** The ticks that were skipped as too late. The delays count them too. */
  readonly skippedTicks: number;
  readonly tickDelayP50Ms: number;
  readonly tickDelayP99Ms: number;
  readonly tickDelayMaxMs: number;
  /** Subtract an earlier copy to get the delays of an interval. @see DelayHistogram.counts */
  readonly tickDelayCounts: Float64Array;
}

/** An error as it crosses threads. */
export interface ThreadFailure {
  readonly category: ErrorCategory;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
}

/** Keeps the code of a system error, such as `EADDRINUSE`. */
export function toFailure(error: unknown): ThreadFailure {
  if (error instanceof CallwayError) {
    const { category, code, message, retryAfterSeconds } = error;
    return { category, code, message, retryAfterSeconds };
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'internal_error';
  const message = error instanceof Error ? error.message : String(error);
  return { category: 'internal', code, message, retryAfterSeconds: undefined };
}

export function fromFailure({ category, code, message, retryAfterSeconds }: ThreadFailure): CallwayError {
  const options = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new CallwayError(category, code, message, options);
}
