import type { SampleRateHz } from '../../media/resample/resampler.ts';
import type { ChatMessage } from './chatMessage.ts';
import type { JsonSchema, ToolChoice, ToolDefinition } from './toolDefinition.ts';

/** Streams answers to conversations. */
export interface ChatModel {
  /** The provider's name in logs and metrics, such as `openai` or `rehearsal`. */
  readonly name: string;
  /**
   * Requests one answer with the first read; to be iterated once. Yields any number of texts and tool calls and then
   * exactly one `end`, or throws. Leaving the loop frees the request at once.
   *
   * @param signal - Aborts the request: a pending read rejects with the signal's reason.
   * @throws {ModelError} The iterator throws it from a read.
   */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  /** The pathway's step that the answer is for; only of a model that keeps the conversation itself. */
  readonly step?: string;
  /** Names of tools that this answer must not call; only of a model that speaks itself. */
  readonly withheldTools?: readonly string[];
  readonly toolChoice?: ToolChoice;
  /** True when one answer may call several tools. */
  readonly parallelToolCalls?: boolean;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** Requests a JSON document of this schema; the name consists of `[A-Za-z0-9_-]`. */
  readonly jsonSchema?: { readonly name: string; readonly schema: JsonSchema };
  /** The format that the chat API's client requests; `jsonSchema` takes precedence. */
  readonly responseFormat?: ResponseFormat;
  /** The purpose of the request, for traces and for the rehearsal model. */
  readonly purpose?: 'answer' | 'route' | 'answer_and_route' | 'extract' | 'judge' | 'summarise' | 'persona';
  /** How often it is sent, at most, where its failure may pass. Default: twice. */
  readonly attempts?: number;
  /** Fields of the chat API's request that the endpoint gets unchanged: those of {@link PASSED_THROUGH}. */
  readonly passthrough?: Readonly<Record<string, unknown>>;
}

/** The response format in OpenAI's wire format. */
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

/** Request fields that Callway does not interpret, by their wire names. */
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

/** Limit of the tool calls in one answer. */
export const MAX_TOOL_CALLS = 128;

export type ChatEvent =
  | SpeechEvent
  | TextEvent
  | ThoughtEvent
  | ToolCallDeltaEvent
  | ToolCallEvent
  | EndEvent;

/** The model speaks itself from here on; the texts that follow are the words of this speech. */
interface SpeechEvent {
  readonly type: 'speech';
  readonly speech: SpokenAnswer;
}

/** Speech that a speech-to-speech model produces itself. */
export interface SpokenAnswer {
  /** The speaking engine's name in the settings of agents. */
  readonly provider: string;
  readonly sampleRateHz: SampleRateHz;
  /** The speech in order, while it comes. To be iterated once. */
  samples(signal: AbortSignal): AsyncIterable<Int16Array>;
  /** Cuts the answer to the part that the person has heard. */
  truncate(heardMs: number): void;
}

/** The text is never empty. */
interface TextEvent {
  readonly type: 'text';
  readonly text: string;
  /** The words of the speech before. */
  readonly isSpoken?: true;
}

/** The texts of this answer so far were a thought: what has not been said of them yet must not be. */
interface ThoughtEvent {
  readonly type: 'thought';
}

/**
 * A part of a tool call, for passing on. `id` and `name` are in the first delta of an `index` only; indices count from 0.
 */
export interface ToolCallDeltaEvent {
  readonly type: 'tool_call_delta';
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  /** A part of the arguments' JSON; may be empty. */
  readonly argumentsDelta: string;
}

/** A complete tool call, for running it; follows its deltas, whose joined texts are its arguments. */
export interface ToolCallEvent {
  readonly type: 'tool_call';
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it, or `{}`. */
  readonly arguments: string;
}

export interface EndEvent {
  readonly type: 'end';
  readonly finishReason: FinishReason;
  /** The usage; undefined when the endpoint does not report it. */
  readonly usage?: Usage | undefined;
  /** The session counts the usage already, with that of cancelled answers. */
  readonly isCounted?: true;
  /** The model that answered, by its own name. */
  readonly model: string;
}

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter';

export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Prompt tokens that the endpoint had cached. */
  readonly cachedTokens?: number;
}
