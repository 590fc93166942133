import type { ChatMessage } from './chatMessage.ts';
import type { JsonSchema, ToolChoice, ToolDefinition } from './toolDefinition.ts';

/** Answers a conversation, piece by piece. */
export interface ChatModel {
  /** Who it is in logs and in what users are shown, such as `openai` or `rehearsal`. */
  readonly name: string;
  /**
   * Asks for one answer. Nothing happens before the first read, and each iterable is read once.
   *
   * An iteration yields any number of texts and tool calls and then exactly one `end`, or throws. Leaving the loop
   * frees everything that the request holds, at once.
   *
   * @param signal - Aborts the request: a pending read then rejects promptly with the signal's reason.
   * @throws {ModelError} From a read, when the model is away, refuses, or answers with something unreadable.
   */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  readonly toolChoice?: ToolChoice;
  /** Whether one answer may call several tools. */
  readonly parallelToolCalls?: boolean;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** Asks for one JSON document instead of prose; a name of `[A-Za-z0-9_-]` and the schema of the document. */
  readonly jsonSchema?: { readonly name: string; readonly schema: JsonSchema };
  /** The form that the caller of the chat API wants of the answer; `jsonSchema`, where there is one, comes before it. */
  readonly responseFormat?: ResponseFormat;
  /** What the request is for, in traces. */
  readonly purpose?: 'answer' | 'route' | 'answer_and_route' | 'extract' | 'judge' | 'summarise';
  /** Data for single providers, by {@link ChatModel.name}; a provider ignores what is not under its own name. */
  readonly providerOptions?: Readonly<Record<string, unknown>>;
  /** Fields of the caller's own request that go to the endpoint as they are; others than {@link PASSED_THROUGH} do not. */
  readonly passthrough?: Readonly<Record<string, unknown>>;
}

/** As OpenAI's API takes it, by the names on the wire. */
export type ResponseFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly json_schema: {
        readonly name: string;
        readonly description?: string;
        readonly schema?: JsonSchema;
        readonly strict?: boolean;
      };
    };

/** What a caller of the chat API may set that Callway has no opinion about, by the name it has on the wire. */
export const PASSED_THROUGH = [
  'user',
  'seed',
  'stop',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'metadata',
  'reasoning_effort',
  'service_tier',
] as const;

export type ChatEvent = TextEvent | ToolCallDeltaEvent | ToolCallEvent | EndEvent;

/** The next words; never empty. */
export interface TextEvent {
  readonly type: 'text';
  readonly text: string;
}

/**
 * A tool call as it grows, for those who pass it on. `id` and `name` are in the first one of an `index` and in no
 * other; the indices of an answer are 0, 1, 2 and so on.
 */
export interface ToolCallDeltaEvent {
  readonly type: 'tool_call_delta';
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  /** May be empty. */
  readonly argumentsDelta: string;
}

/** A whole tool call, for those who run it. Comes after all of its deltas, whose texts joined are its arguments. */
export interface ToolCallEvent {
  readonly type: 'tool_call';
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it; `{}` where the model wrote nothing. */
  readonly arguments: string;
}

export interface EndEvent {
  readonly type: 'end';
  readonly finishReason: FinishReason;
  /** Absent where the endpoint does not tell. */
  readonly usage?: Usage;
  /** The model that answered, as it calls itself. */
  readonly model: string;
}

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter';

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Those of the prompt's tokens that came from the endpoint's cache. */
  readonly cachedTokens?: number;
}
