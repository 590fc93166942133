import type { UsageTally } from '../../agents/cost/usage.ts';
import type { TransferOutcome, TransferRequest } from '../../agents/transferOptions.ts';
import type { ResponseFormat, SpokenAnswer } from '../../models/ports/chatModel.ts';
import type { ToolDefinition } from '../../models/ports/toolDefinition.ts';
import type { FunctionCall, MessageSpeech, SessionMessage } from '../session/session.ts';
import type { SpokenDelivery } from './delivery.ts';

/** The tool name of a transfer's outcome, whether a model called the tool or a node transferred. */
export const TRANSFER_TOOL = 'transfer_call';

/** What a turn answers. */
export type TurnInput =
  /** The agent speaks first, as when a call is answered. */
  | { readonly kind: 'begin' }
  /**
   * @property isScreening - A call screening service asks.
   * @property language - The language that was spoken, as a recognizer reports it.
   * @property late - What `text` only stands for, where a model that speaks itself answers before the words are known.
   * Never rejects.
   */
  | {
      readonly kind: 'user_message';
      readonly text: string;
      readonly language?: string;
      readonly isScreening?: true;
      readonly late?: Promise<string>;
      readonly speech?: MessageSpeech;
    }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'silence'; readonly durationMs: number }
  /**
   * The customer spoke, and it is not known what they said.
   *
   * @property count - How many times in a row this has happened, from 1.
   * @property leadsOn - The customer was asked again often enough: the pathway leads on. Before, the channel asks again.
   * @property message - What the recognizer failed with.
   */
  | {
      readonly kind: 'not_understood';
      readonly why: 'no_words' | 'recognition_failed';
      readonly count: number;
      readonly leadsOn: boolean;
      readonly message?: string | undefined;
    }
  /** An answering machine waits for a message; `evidence` is what revealed it. */
  | { readonly kind: 'voicemail'; readonly evidence?: string }
  /** The model failed in the turn before: takes the pathway's fallback without a model. */
  | { readonly kind: 'failure' }
  /** A transfer failed, and the customer is back. */
  | {
      readonly kind: 'transfer_failed';
      readonly to: string;
      readonly outcome?: TransferOutcome;
      readonly reason: string;
    }
  /** The customer waits for a transfer: the channel says how far it is. */
  | { readonly kind: 'transfer_update'; readonly progress: 'waiting' | 'answered' }
  /** What the law has the agent say before the first node. @property id - Names one of the agent's `disclosures`. */
  | { readonly kind: 'disclosure'; readonly id: string }
  /** A supervisor's words, said as the agent's. */
  | { readonly kind: 'say'; readonly text: string }
  /**
   * A supervisor has given the conversation back to the agent.
   *
   * @property answersCustomer - The customer has spoken last; otherwise the agent goes on at its node.
   */
  | { readonly kind: 'given_back'; readonly answersCustomer: boolean }
  /** The channel says something itself; the history records why. */
  | { readonly kind: 'channel_error'; readonly code: string; readonly message: string }
  /** The customer has left: records their last words without an answer. May be empty where `history` has them. */
  | { readonly kind: 'unanswered_message'; readonly text: string; readonly speech?: MessageSpeech }
  /** Results of the client's own tools. */
  | { readonly kind: 'tool_results'; readonly results: readonly ToolResult[] };

export interface ToolResult {
  readonly toolCallId: string;
  readonly name?: string;
  readonly content: string;
}

export interface TurnRequest {
  readonly input: TurnInput;
  /** The channel's variables for a session's first turn; variables that the session has take precedence. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Messages from outside of the session, to add to it before this turn. */
  readonly history?: readonly ExternalMessage[];
  /** The digest of the client's conversation before the answer. @see ClientConversation */
  readonly digest?: string;
  /** Whether the person's messages in `history` are walked through the pathway, which begins with this turn. */
  readonly walksHistory?: boolean;
  /** Whether the client reads the answer when it is complete. Default: while it is written. */
  readonly isWhole?: boolean | undefined;
  /** The client's instructions for this turn; not stored. */
  readonly instructions?: readonly string[];
  /** Tools that the client runs. */
  readonly callerTools?: readonly ToolDefinition[];
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  /** Whether one answer may call several tools. Default: the model's. */
  readonly parallelToolCalls?: boolean;
  /** The format of the model's answers; does not apply to fixed texts of the pathway. */
  readonly responseFormat?: ResponseFormat;
  /** Fields of the request that go to the model unchanged. @see PASSED_THROUGH */
  readonly passthrough?: Readonly<Record<string, unknown>>;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  /** When the input ended, in ms since the Unix epoch. Default: now. */
  readonly beganAtMs?: number;
  /** When the customer began to speak, in ms since the Unix epoch; undefined when nothing was spoken. */
  readonly spokenFromMs?: number;
  /**
   * What the session has used since a turn was stored, which this one adds to and stores: that of turns that are not
   * stored, and of speech. Its owner stores the rest. Default: only what this turn uses.
   */
  readonly tally?: UsageTally | undefined;
  /** The delivery of channels that speak the answer. Default: what is said counts as delivered. */
  readonly delivery?: SpokenDelivery;
}

/**
 * A message of a conversation that the client keeps; the results of its tool calls follow it. A supervisor's instruction
 * has the role `system`, and is for the model alone.
 */
export interface ExternalMessage {
  readonly role: SessionMessage['role'];
  readonly content: string | null;
  readonly tool_calls?: readonly FunctionCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
  readonly speech?: MessageSpeech;
  /** The number of an instruction among those of its call, from 1: one that the session has is not added again. */
  readonly instruction?: number;
}

/**
 * Receives a turn's answer piece by piece. The engine awaits a returned promise before it sends the next piece, which
 * is how a slow consumer applies backpressure. Must not throw.
 */
export type TurnSink = (output: TurnOutput) => Promise<void> | undefined;

/** A turn's answer, piece by piece; `start` is the first, `done` the last. */
export type TurnOutput =
  /** The model that answers. */
  | { readonly type: 'start'; readonly model: string }
  /** @property isSpoken - The words of the speech before, which need no voice. */
  | { readonly type: 'text'; readonly text: string; readonly isSpoken?: true }
  /** The model speaks itself. */
  | { readonly type: 'speech'; readonly speech: SpokenAnswer }
  /** A filler while a tool runs; part of the transcript. */
  | { readonly type: 'filler'; readonly text: string }
  /** A complete call of one of the client's tools. */
  | { readonly type: 'tool_call'; readonly index: number; readonly call: FunctionCall }
  | { readonly type: 'action'; readonly action: TurnAction }
  | TurnDone;

/** An action of the channel other than speaking. */
export type TurnAction =
  /** @property to - The first target. */
  | { readonly kind: 'transfer'; readonly to: string; readonly options?: TransferRequest }
  | { readonly kind: 'send_dtmf'; readonly digits: string };

export interface TurnDone {
  readonly type: 'done';
  readonly finishReason: 'stop' | 'tool_calls';
  /** The reason for which the session ended with this turn. */
  readonly ended: 'end_node' | 'end_call_tool' | null;
  /** The model that answered. */
  readonly model: string;
  readonly usage: TurnUsage;
}

/** Tokens of all model requests of the turn; zero where the model does not report them. */
export interface TurnUsage {
  readonly modelCalls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}
