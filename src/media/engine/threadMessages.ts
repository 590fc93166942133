import type { ErrorCategory } from '../../base/errors.ts';
import { CallwayError } from '../../base/errors.ts';
import type { StreamTarget, TransferStatus } from '../agentStream/streamClient.ts';
import type { DtmfDigit, MediaEvents, MediaParameters, MediaReport } from '../mediaSession.ts';
import type { MediaQuality } from '../quality/mediaQuality.ts';

/** What a thread is started with. */
export interface MediaThreadData {
  /** Of this machine, to listen on. */
  readonly address: string;
}

export interface OpenInThread {
  readonly rtpPort: number;
  readonly timeoutMs: number;
}

/** What a thread does for the main one, by name: what is sent, and what comes back. */
export interface ThreadCalls {
  readonly open: { readonly sent: OpenInThread; readonly answer: undefined };
  readonly connect: { readonly sent: MediaParameters; readonly answer: undefined };
  readonly startBridge: { readonly sent: StreamTarget; readonly answer: undefined };
  readonly apologise: { readonly sent: undefined; readonly answer: undefined };
  readonly stopBridge: { readonly sent: undefined; readonly answer: undefined };
  readonly tellEngine: { readonly sent: TransferStatus; readonly answer: undefined };
  /** @see CallAudio.stayBeside; another call by the number of its session. */
  readonly stayBeside: { readonly sent: 'nobody' | 'ringing' | number; readonly answer: undefined };
  readonly startRecording: { readonly sent: string; readonly answer: undefined };
  readonly sendDtmf: { readonly sent: string; readonly answer: undefined };
  readonly takeKey: { readonly sent: DtmfDigit; readonly answer: undefined };
  readonly figures: { readonly sent: undefined; readonly answer: MediaQuality };
  readonly close: { readonly sent: undefined; readonly answer: MediaReport };
}

export type ThreadCallName = keyof ThreadCalls;

export type ThreadCall = {
  [Name in ThreadCallName]: {
    readonly kind: 'call';
    readonly callNumber: number;
    readonly session: number;
    readonly name: Name;
    readonly sent: ThreadCalls[Name]['sent'];
  };
}[ThreadCallName];

export type ToThread =
  | ThreadCall
  /** Answered by `alive`, by a thread that is not stuck. */
  | { readonly kind: 'ping' }
  /** Close all sessions, and end. */
  | { readonly kind: 'end' };

export type MediaThreadEvent = {
  [Name in keyof MediaEvents]: { readonly name: Name; readonly value: MediaEvents[Name] };
}[keyof MediaEvents];

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'alive'; readonly statistics: ThreadStatistics }
  | { readonly kind: 'answer'; readonly callNumber: number; readonly answer: unknown }
  | { readonly kind: 'failure'; readonly callNumber: number; readonly failure: Failure }
  | { readonly kind: 'event'; readonly session: number; readonly event: MediaThreadEvent }
  /** A session's tick threw: a defect, to be logged. */
  | { readonly kind: 'fault'; readonly session: number; readonly message: string };

/** How a thread keeps its time; since it began. */
export interface ThreadStatistics {
  readonly sessions: number;
  /** It goes before ordinary work of the machine. */
  readonly hasPriority: boolean;
  readonly ticks: number;
  readonly skippedTicks: number;
  readonly tickDelayP50Ms: number;
  readonly tickDelayP99Ms: number;
  readonly tickDelayMaxMs: number;
  /** For the lateness within a stretch of time: the difference of two. @see LatenessHistogram.counts */
  readonly tickDelayCounts: Float64Array;
}

/** An error as it crosses threads. */
export interface Failure {
  readonly category: ErrorCategory;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
}

/** A system error's code stays the code, so that a port that is taken can be told. */
export function toFailure(error: unknown): Failure {
  if (error instanceof CallwayError) {
    const { category, code, message, retryAfterSeconds } = error;
    return { category, code, message, retryAfterSeconds };
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'internal_error';
  const message = error instanceof Error ? error.message : String(error);
  return { category: 'internal', code, message, retryAfterSeconds: undefined };
}

export function fromFailure({ category, code, message, retryAfterSeconds }: Failure): CallwayError {
  return new CallwayError(
    category,
    code,
    message,
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  );
}
