import type { ExecutionMode } from '../../agents/agentConfig.ts';
import type { Amounts, ModelUsage } from '../../agents/cost/usage.ts';
import type { ToolMock } from '../../agents/testSuites/testCase.ts';
import { toReleaseName } from '../../base/values/releaseName.ts';

/** How the customer is connected. */
export type Channel = 'chat' | 'phone' | 'web';

/** `active` while turns can run. */
export type SessionStatus = 'active' | 'ended';

export const END_REASONS = [
  'api_end',
  'api_terminate',
  'idle',
  'end_node',
  'end_call_tool',
  'call_ended',
  'project_deleted',
] as const;
export type EndReason = (typeof END_REASONS)[number];

export interface FunctionCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface SessionMessage {
  /** `system` for what supervisors tell the agent; always internal. */
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  /** The text that was delivered; null on an assistant's message that only calls tools. */
  readonly content: string | null;
  /** ISO 8601. */
  readonly at: string;
  readonly nodeId?: string;
  readonly tool_calls?: readonly FunctionCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
  /**
   * The time from the start of the turn to the first words; of a spoken answer, from the caller's last voice to the
   * agent's first.
   */
  readonly latencyMs?: number;
  readonly latencyParts?: LatencyParts;
  readonly latencyDetails?: LatencyDetails;
  /** The recognition and voice; undefined on written text. */
  readonly speech?: MessageSpeech;
  /** When the words were spoken; undefined on written text, and when it is not known. */
  readonly spoken?: SpokenTimes;
  readonly interrupted?: boolean;
  /** The peer does not report what it plays: it is estimated from the pacing, unless its client truncated the answer. */
  readonly heard?: 'estimated' | 'reported';
  /** Everything that the model wrote, where the customer heard less. */
  readonly generatedText?: string;
  /** The tokens of the turn’s model requests, by model; where its endpoint reports them. */
  readonly usage?: readonly ModelUsage[];
  /** Calls of the pathway’s own tools with their results, and instructions: for the model’s context, not for the transcript. */
  readonly internal?: true;
}

/** A message of the transcript. */
export type ShownMessage = SessionMessage & { readonly role: Exclude<SessionMessage['role'], 'system'> };

export function isShown(message: SessionMessage): message is ShownMessage {
  return !message.internal && message.role !== 'system';
}

/** When a message was spoken, from its first sound to its last; ISO 8601. */
export interface SpokenTimes {
  readonly from: string;
  readonly to: string;
}

/** The providers that a spoken message went through, by the names of the settings, such as `openai` or `local`. */
export interface MessageSpeech {
  /** The provider that recognized the caller's words. */
  readonly recognition?: string | undefined;
  /** The provider that spoke the agent's words; where a fallback voice took over, the last one. */
  readonly synthesis?: string | undefined;
}

/** The parts of a spoken answer's latency, and how its turn began. */
export interface LatencyParts extends LatencyDurations {
  /** Whether the answer was prepared before the end was sure; `canceled` where one was prepared in vain. */
  readonly preemptive?: 'committed' | 'canceled' | 'none';
}

/** Shares of a latency's parts, in milliseconds; of what was written, of `latencyMs`. */
export interface LatencyDetails {
  /** The part of `answerMs` in the model's requests, until their tool calls or the first words. */
  readonly modelMs?: number | undefined;
  /** The part of `answerMs` in tools that ran before the first words. */
  readonly toolMs?: number | undefined;
  /** The part of `speechMs` from the first words to the first text that could be spoken, such as a sentence. */
  readonly sentenceMs?: number | undefined;
}

/** The parts of a latency in milliseconds; they add up to `latencyMs`. */
export interface LatencyDurations {
  /** The time in the jitter buffer: from a packet's arrival to its samples. */
  readonly bufferMs: number;
  /** The time until the end of the caller's turn was detected. */
  readonly endpointingMs: number;
  /** The time until the final transcript. */
  readonly transcriptionMs: number;
  /** The time until the answer's first words: lock, session, edge selection and model. */
  readonly answerMs: number;
  /** The time until the first synthesised samples. */
  readonly speechMs: number;
  /** The time until these were sent to the caller. */
  readonly playoutMs: number;
}

export const HISTORY_EVENT_TYPES = [
  'session_started',
  'node_entered',
  'variable_set',
  'tool_called',
  'tool_result',
  'knowledge_used',
  'barge_in',
  'dtmf',
  'silence',
  'not_understood',
  'opt_out',
  'disclosure_heard',
  'call_status',
  'answering_machine',
  'transfer',
  'supervision',
  'participant',
  'recording',
  'provider_fallback',
  'warning',
  'webhook_sent',
  'error',
  'session_ended',
] as const;
export type HistoryEventType = (typeof HISTORY_EVENT_TYPES)[number];

/** One event of a session's history. */
export interface HistoryEvent {
  readonly type: HistoryEventType;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The call of a session, as pathways, tools and customers' endpoints see it. */
export interface CallFacts {
  readonly direction: 'inbound' | 'outbound';
  /** The number in E.164; of an inbound call from no public number, as the carrier wrote it. */
  readonly fromNumber: string;
  readonly toNumber: string;
  readonly callId: string;
  /** The trunk's id; null until the call was dialed. */
  readonly trunkId: string | null;
}

/** What is due on the pathway beside the current node. */
export interface PendingRoute {
  /** The node to return to on the customer's next turn, from one that a global edge led to. */
  readonly returnTo: {
    readonly nodeId: string;
    readonly hasSpoken: boolean;
    readonly heldEdgeId: string | null;
  } | null;
  /** The edge that was selected and waits until a required variable is known or was asked for often enough. */
  readonly heldEdgeId: string | null;
  /** The number of times each required variable was asked for. */
  readonly asked: Readonly<Record<string, number>>;
}

export const NO_PENDING_ROUTE: PendingRoute = { returnTo: null, heldEdgeId: null, asked: {} };

/** What the next turn needs of the conversation so far. */
export interface SessionState {
  readonly variables: Readonly<Record<string, unknown>>;
  /** The newest; see {@link withMessages}. */
  readonly messages: readonly SessionMessage[];
  /** The number of messages before `messages`. Default: none. */
  readonly messagesBefore?: number;
  /** The current node's id; null before the first turn. */
  readonly currentNodeId: string | null;
  /** Whether the current node has been spoken, so that the customer's next words answer it. */
  readonly hasSpoken: boolean;
  readonly route: PendingRoute;
  /** Calls of the client's own tools; its next request brings their results. */
  readonly pendingToolCalls: readonly FunctionCall[];
  /** The number of the latest instruction that a supervisor gave. Default: none. */
  readonly latestInstruction?: number;
  /** Replaces the messages before `upTo` in the model's context. */
  readonly summary: { readonly text: string; readonly upTo: number } | null;
  /** The customer's memory from earlier sessions. */
  readonly memory: string | null;
  /** The session's call, as known at its start; undefined without one. */
  readonly call?: CallFacts;
  /** What was used in the turns that are stored. Default: nothing. */
  readonly usage?: Amounts;
  /** The node at which the pathway begins, instead of its start node. */
  readonly startNodeId?: string;
  /** The text that is said instead of the first node's words; undefined once it was said. */
  readonly greeting?: string;
  /** The SIP status that the call is rejected with. */
  readonly rejectedWith?: number;
  /** The test that the session belongs to; undefined in other sessions. */
  readonly test?: SessionTest;
}

/** What a test says of its session, which sends no webhook, remembers no customer and counts in no limit. */
export interface SessionTest {
  /** The id of the release that the session runs on, even when another one is current. */
  readonly releaseId: string;
  readonly toolMocks: readonly ToolMock[];
  /** Whether tools without a mock are called. */
  readonly allowRealTools: boolean;
}

/** The settings of a session that may not exist yet. */
export interface NewSession {
  readonly projectId: string;
  readonly sessionId: string;
  readonly channel: Channel;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly provider?: string | null;
  readonly callId?: string;
  /** The other party's number of a call; undefined without one. */
  readonly customerNumber?: string;
  /** A node's id. */
  readonly startNodeId?: string;
  /** Whether the id was generated for this session, so that no session can have it. */
  readonly isNew?: boolean;
  /** Whether to run on the working copy even while a release is live. */
  readonly draft?: boolean;
  /** Replaces the agent's own mode in a session that is created. */
  readonly executionMode?: ExecutionMode;
  /** The parent of the turn's span. */
  readonly traceparent?: string;
  readonly test?: SessionTest;
}

/** A live session. */
export interface Session {
  readonly projectId: string;
  /** Chosen by the client or generated; may be used again after the session's end. */
  readonly sessionId: string;
  /** Unique, also where a session id is used again. */
  readonly instanceId: string;
  readonly channel: Channel;
  readonly provider: string | null;
  readonly callId: string | null;
  readonly pathwayId: string;
  /** The release that the session runs on until its end. */
  readonly releaseId: string;
  /** The number of the release; null for the working copy. */
  readonly release: number | null;
  /** Number of stored turns; a turn that started from an older number is rejected. */
  readonly turn: number;
  readonly startedAt: string;
  readonly lastActivityAt: string;
  readonly state: SessionState;
  /** Finds the session for a client that names none; undefined before its first turn, and on a phone. @see ClientConversation */
  readonly digest?: string | null;
  /** Size of its stored messages: characters of their JSON, plus a constant for each. Default 0. @see MAX_SESSION_CHARACTERS */
  readonly characters?: number;
  /** The idle minutes after which it ends. Default: the project's. */
  readonly idleMinutes?: number | null;
}

/** An idle session as it was found. */
export type IdleSession = Pick<Session, 'projectId' | 'sessionId' | 'instanceId' | 'turn'>;

export const newSessionState = (variables: Readonly<Record<string, unknown>>): SessionState => ({
  variables,
  messages: [],
  currentNodeId: null,
  hasSpoken: false,
  route: NO_PENDING_ROUTE,
  pendingToolCalls: [],
  summary: null,
  memory: null,
});

/** The session that would be created, for building a request before it is. @param at - ISO 8601. */
export function draftSession(wanted: NewSession, at: string): Session {
  return {
    projectId: wanted.projectId,
    sessionId: wanted.sessionId,
    instanceId: '',
    channel: wanted.channel,
    provider: wanted.provider ?? null,
    callId: wanted.callId ?? null,
    pathwayId: '',
    releaseId: '',
    release: null,
    turn: 0,
    startedAt: at,
    lastActivityAt: at,
    state: {
      ...newSessionState(wanted.variables ?? {}),
      startNodeId: wanted.startNodeId,
      test: wanted.test,
    },
  };
}

/**
 * Limit of the messages of a chat session, in characters of their JSON. A session is read in one piece, which blocks the
 * event loop: the limit bounds for how long. 2,000 turns of ordinary length stay below it.
 */
export const MAX_SESSION_CHARACTERS = 4_000_000;
/** Limit of the messages that a turn reads. */
const MAX_MESSAGES = 400;
/** Limit of their texts, in characters: several times what is sent to a model. */
const MAX_CHARACTERS = 262_144;

/** Adds messages, and leaves out old ones that no turn needs any more: the summary has them, or they are too many. */
export function withMessages(state: SessionState, added: readonly SessionMessage[]): SessionState {
  const messages = [...state.messages, ...added];
  const upTo = state.summary?.upTo ?? 0;
  let characters = 0;
  const tooLong = messages.findLastIndex(({ content, tool_calls: calls }) => {
    characters += (content?.length ?? 0) + (calls ? JSON.stringify(calls).length : 0);
    return characters > MAX_CHARACTERS;
  });
  // The last one says how the conversation goes on.
  const from = Math.min(
    Math.max(upTo, messages.length - MAX_MESSAGES, tooLong + 1),
    Math.max(0, messages.length - 1),
  );
  if (from === 0) return { ...state, messages };
  return {
    ...state,
    messages: messages.slice(from),
    messagesBefore: (state.messagesBefore ?? 0) + from,
    summary: state.summary && { ...state.summary, upTo: Math.max(0, upTo - from) },
  };
}

/** A session as the API's `state` or `data`. @param session - With all its messages. */
export function sessionData(session: Session) {
  return {
    variables: session.state.variables,
    messages: session.state.messages.filter(isShown).map(shownMessage),
    pathwayId: session.pathwayId,
    release: toReleaseName(session.release),
    currentNodeId: session.state.currentNodeId,
    channel: session.channel,
    provider: session.provider,
    status: 'active' as const,
    callId: session.callId ?? undefined,
    startedAt: session.startedAt,
    lastActivityAt: session.lastActivityAt,
  };
}

/** A message as {@link sessionData} has it. */
export function shownMessage({ role, content, tool_calls, tool_call_id, name }: ShownMessage) {
  return {
    role,
    content,
    tool_calls: tool_calls && [...tool_calls],
    tool_call_id,
    name,
  };
}
