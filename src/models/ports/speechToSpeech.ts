import type { SampleRateHz } from '../../media/resample/resampler.ts';
import type { ChatMessage } from './chatMessage.ts';
import type { ToolCallEvent, Usage } from './chatModel.ts';
import type { ModelError } from './modelError.ts';
import type { ToolDefinition } from './toolDefinition.ts';

/** The result that a model gets for a tool call that was not carried out or has no result. */
export const NO_RESULT = 'No result.';

export interface SpeechToSpeech {
  /** The engine's name in the settings of agents. */
  readonly name: string;
  /** The model's name. */
  readonly model: string;
  /** The sample rate of the model's speech. */
  readonly sampleRateHz: SampleRateHz;
  /** Connects at once. Never throws: a connection that cannot be made reports `failed`. */
  connect(
    options: SpeechToSpeechOptions,
    onEvent: (event: SpeechToSpeechEvent) => void,
  ): SpeechToSpeechConnection;
  close(): Promise<void>;
}

export interface SpeechToSpeechOptions {
  /** The sample rate of the pushed samples: 8000, 16000 or 24000. */
  readonly sampleRateHz: number;
  /** BCP 47 tag of what the person speaks; absent when unknown. */
  readonly language?: string | undefined;
}

/** A conversation. Its user detects the turns, and the model answers on request. */
export interface SpeechToSpeechConnection {
  /** Takes the person's next samples, which the caller of it may reuse. Never throws. */
  push(samples: Int16Array): void;
  /**
   * The person pauses: what was pushed is part of the conversation, and its transcript follows.
   *
   * @returns The number of the transcript.
   */
  commit(): number;
  /** Drops what was pushed since the last commit. */
  discard(): void;
  /** Asks for an answer. Its speech, texts and tool calls follow, and then `done`. */
  answer(request: SpeechToSpeechRequest): void;
  /** Cancels the answer. No further events of it follow, but its usage where the vendor tells it. */
  cancel(): void;
  /** Cuts the speech to the part that the person has heard. */
  truncate(speechId: string, heardMs: number): void;
  /** Ends the connection. No event follows. Idempotent. */
  close(): void;
}

export interface SpeechToSpeechRequest {
  /** Paragraphs; the last one is the time of the day. */
  readonly instructions: string;
  /** The text of the pathway's current step. */
  readonly step: string;
  /** The tools of the current step. */
  readonly tools: readonly ToolDefinition[];
  /** Names of tools that this answer must not call. */
  readonly withheldTools: readonly string[];
  /** The whole conversation without its instructions. */
  readonly messages: readonly ChatMessage[];
  /** The messages that the model has neither heard nor said, and the results of its tool calls. */
  readonly news: readonly ChatMessage[];
}

export type SpeechToSpeechEvent =
  /** The connection accepts audio. */
  | { readonly type: 'connected' }
  /** The person's words before the commit of this number: an interim or the final transcript. */
  | {
      readonly type: 'transcript';
      readonly commit: number;
      readonly text: string;
      readonly isFinal: boolean;
    }
  /** The transcript must come from another recognizer. */
  | { readonly type: 'transcript_lost'; readonly commit: number }
  /** A piece of the answer's speech. An answer may have several, one after the other. */
  | { readonly type: 'speech'; readonly speechId: string; readonly samples: Int16Array }
  /** Words of the answer; `speechId` is the speech that says them, absent for words that nothing says. */
  | { readonly type: 'text'; readonly text: string; readonly speechId?: string }
  /** A tool call is being written. */
  | { readonly type: 'calling' }
  | { readonly type: 'tool_call'; readonly call: Omit<ToolCallEvent, 'type' | 'index'> }
  | { readonly type: 'done'; readonly usage?: Usage | undefined }
  /** The usage of an answer that was cancelled. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The connection is lost, or was refused. */
  | { readonly type: 'failed'; readonly error: ModelError };
