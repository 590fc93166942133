import type { ResponseFormat } from '../../providers/ports/chatModel.ts';
import type { ToolDefinition } from '../../providers/ports/toolDefinition.ts';
import type { FunctionCall } from '../session/session.ts';
import type { SpokenDelivery } from './delivery.ts';

/** What a turn answers. */
export type TurnInput =
  /** The talk begins with the agent's word, as when a call is answered. */
  | { readonly kind: 'begin' }
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'silence'; readonly durationMs: number }
  /** A machine has answered and waits for a message; `evidence` is what gave it away. */
  | { readonly kind: 'voicemail'; readonly evidence?: string }
  /** The model failed over the input before: the pathway's fallback is taken, without asking a model for the way. */
  | { readonly kind: 'failure' }
  /** The customer could not be handed over, and is back. */
  | { readonly kind: 'transfer_failed'; readonly to: string; readonly reason: string }
  /** There is nothing to answer: the channel itself has something to say, and why stands in the history. */
  | { readonly kind: 'notice'; readonly code: string; readonly message: string }
  /** The customer is gone, and nobody answers: words that belong to no turn yet; may be empty where `history` has them. */
  | { readonly kind: 'last_words'; readonly text: string }
  /** Results of the caller's own tools. */
  | { readonly kind: 'tool_results'; readonly results: readonly ToolResult[] };

export interface ToolResult {
  readonly toolCallId: string;
  readonly name?: string;
  readonly content: string;
}

export interface TurnRequest {
  readonly input: TurnInput;
  /** Messages that were exchanged elsewhere before this turn, to be taken over into the session. */
  readonly history?: readonly ExternalMessage[];
  /** The caller's instructions for this turn; not kept. */
  readonly instructions?: readonly string[];
  /** Tools that the caller runs. */
  readonly callerTools?: readonly ToolDefinition[];
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  /** Whether one answer may call several tools; absent leaves it to the model. */
  readonly parallelToolCalls?: boolean;
  /** The form of what the model says at a node; texts that the pathway fixes keep theirs. */
  readonly responseFormat?: ResponseFormat;
  /** Fields of the request that go to the model as they are. @see PASSED_THROUGH */
  readonly passthrough?: Readonly<Record<string, unknown>>;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** When what it answers was over, in ms since the Unix epoch; default now. */
  readonly beganAtMs?: number;
  /** For channels on which an answer takes its time, and may be cut short. Default: what is said is delivered. */
  readonly delivery?: SpokenDelivery;
}

/** A message of a talk that the caller kept; a call among its tool calls has its result after it. */
export interface ExternalMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_calls?: readonly FunctionCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
}

/**
 * Receives a turn's answer piece by piece. The engine awaits a returned promise before it sends the next piece, which
 * is how a slow consumer applies backpressure. Must not throw.
 */
export type TurnSink = (output: TurnOutput) => Promise<void> | undefined;

/** A turn's answer, piece by piece; `start` is the first, `done` the last. */
export type TurnOutput =
  /** The model that is asked. */
  | { readonly type: 'start'; readonly model: string }
  | { readonly type: 'text'; readonly text: string }
  /** Said because a tool is slow; stands in the transcript like other words. */
  | { readonly type: 'placeholder'; readonly text: string }
  /** A whole call of one of the caller's tools. */
  | { readonly type: 'tool_call'; readonly index: number; readonly call: FunctionCall }
  | { readonly type: 'action'; readonly action: TurnAction }
  | TurnDone;

/** What the channel has to do beside speaking. */
export type TurnAction =
  | { readonly kind: 'transfer'; readonly to: string }
  | { readonly kind: 'send_dtmf'; readonly digits: string };

export interface TurnDone {
  readonly type: 'done';
  readonly finishReason: 'stop' | 'tool_calls';
  /** The talk is over; the session is ended once this has been passed on. */
  readonly ended: 'end_node' | 'end_call_tool' | null;
  /** The model that answered. */
  readonly model: string;
  readonly usage: TurnUsage;
}

/** Tokens over all model calls of the turn; zero where the model does not tell. */
export interface TurnUsage {
  readonly modelCalls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}
