import type { EventSource } from '../../base/emitter.ts';
import type { TextPart } from '../../dialects/textDialect.ts';
import type { StreamOpening } from './audioStream.ts';

/** A conversation as text with a gateway that recognizes and speaks itself, independent of the stream's dialect. */
export interface TextStream {
  readonly info: TextStreamInfo;
  readonly events: EventSource<TextStreamEvents>;
  /** Says the next part of an answer. */
  say(part: TextPart): void;
  /** The gateway speaks and understands this language from now on. @param tag - BCP 47. */
  useLanguage(tag: string): void;
  sendDigits(digits: string): void;
  /** Ends the gateway's session. @param handoff - For what the gateway does next. */
  end(handoff: Readonly<Record<string, unknown>>): void;
  close(code?: number, reason?: string): void;
}

export interface TextStreamInfo {
  /** The name of the gateway's recognition and voice in the history. */
  readonly provider: string;
  readonly projectId: string;
  readonly sessionId: string;
  readonly traceparent?: string;
  readonly opening?: StreamOpening;
  readonly customParameters: Readonly<Record<string, string>>;
}

export interface TextStreamEvents {
  /** What the caller says; more may follow until it is final. */
  readonly words: { readonly text: string; readonly language: string | undefined; readonly isFinal: boolean };
  readonly dtmf: { readonly digit: string };
  /** The caller has interrupted the agent, after this was heard of its answer. */
  readonly interrupted: { readonly heard: string; readonly heardMs: number | undefined };
  /** The next part of the answer was heard. */
  readonly played: { readonly text: string };
  /** The gateway speaks no more. */
  readonly silent: object;
  /** The gateway reports a fault. */
  readonly fault: { readonly message: string };
  /** The last event. */
  readonly closed: { readonly code: number; readonly reason: string };
}
