/** By what way a customer talks. */
export type Channel = 'chat' | 'phone' | 'web';

/** `active` while turns can be taken; then how it ended. */
export type SessionStatus = 'active' | 'ended';

/** Why a session ended. */
export type EndReason =
  | 'api_end'
  | 'api_terminate'
  | 'idle'
  | 'end_node'
  | 'end_call_tool'
  | 'call_ended'
  | 'project_deleted';

export interface FunctionCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** One message of a session, as it is kept. */
export interface SessionMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  /** What was really said; null on an assistant's message that only calls tools. */
  readonly content: string | null;
  /** ISO 8601. */
  readonly at: string;
  readonly nodeId?: string;
  readonly tool_calls?: readonly FunctionCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
  /** From the turn's begin to the first words; of a spoken answer, from the caller's last voice to the agent's first. */
  readonly latencyMs?: number;
  readonly latencyParts?: LatencyParts;
  readonly interrupted?: boolean;
  /** All that the model wrote, where the customer got less. */
  readonly generatedText?: string;
  /** Tools of the pathway’s own and their results: for the model’s context, not for the transcript. */
  readonly internal?: true;
}

/** Where the time of a spoken answer went, in milliseconds; the parts add up to `latencyMs`. */
export interface LatencyParts {
  /** The jitter buffer's share: the caller's voice was here so much later than its packet. */
  readonly bufferMs: number;
  /** Until it was sure that the caller had finished. */
  readonly endpointingMs: number;
  /** Until the words were known. */
  readonly transcriptionMs: number;
  /** Until the answer's first words: the turn's lock and session, the move, and the model. */
  readonly answerMs: number;
  /** Until the first of them were speech. */
  readonly speechMs: number;
  /** Until that left for the caller. */
  readonly playoutMs: number;
}

export type HistoryEventType =
  | 'session_started'
  | 'node_entered'
  | 'variable_set'
  | 'tool_called'
  | 'tool_result'
  | 'knowledge_used'
  | 'barge_in'
  | 'dtmf'
  | 'silence'
  | 'call_status'
  | 'answering_machine'
  | 'transfer'
  | 'webhook_sent'
  | 'error'
  | 'session_ended';

/** One thing that happened, for the history. */
export interface HistoryEvent {
  readonly type: HistoryEventType;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a talk has come to: all that the next turn needs. */
export interface SessionState {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly messages: readonly SessionMessage[];
  /** Null before the first turn. */
  readonly currentNodeId: string | null;
  /** Whether the current node has had its word, so that what the customer says next answers it. */
  readonly hasSpoken: boolean;
  /** The caller's own tools that the last answer called; the next request brings their results. */
  readonly pendingToolCalls: readonly FunctionCall[];
  /** What the messages before `upTo` came to, once they were too many for a model's context. */
  readonly summary: { readonly text: string; readonly upTo: number } | null;
  /** What is known of the customer from earlier sessions. */
  readonly memory: string | null;
}

/** What a session is to be that does not exist yet. */
export interface NewSession {
  readonly projectId: string;
  readonly sessionId: string;
  readonly channel: Channel;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly provider?: string | null;
  readonly callId?: string;
  /** The id was made for this session, and nobody has used it before. */
  readonly isNew?: boolean;
  /** Run on the working copy even while another release is live. */
  readonly draft?: boolean;
  /** Of whoever wants the turn: its span, to which the turn's belongs. */
  readonly traceparent?: string;
}

/** A live session. */
export interface Session {
  readonly projectId: string;
  /** As its caller chose it, or as the service made it; may be used again after the end. */
  readonly sessionId: string;
  /** This one life of the session id. */
  readonly instanceId: string;
  readonly channel: Channel;
  readonly provider: string | null;
  readonly callId: string | null;
  readonly pathwayId: string;
  /** Names the release that it runs on to its end. */
  readonly releaseId: string;
  /** Counts the turns that were kept; a turn on an older count is refused. */
  readonly turn: number;
  readonly startedAt: string;
  readonly lastActivityAt: string;
  readonly state: SessionState;
}

/** A live session as it was when nobody had talked in it for too long. */
export type IdleSession = Pick<Session, 'projectId' | 'sessionId' | 'instanceId' | 'turn'>;

export const newSessionState = (variables: Readonly<Record<string, unknown>>): SessionState => ({
  variables,
  messages: [],
  currentNodeId: null,
  hasSpoken: false,
  pendingToolCalls: [],
  summary: null,
  memory: null,
});

/** Stands for a session that would be made, so that a request can be read before it is. @param at - ISO 8601. */
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
    turn: 0,
    startedAt: at,
    lastActivityAt: at,
    state: newSessionState(wanted.variables ?? {}),
  };
}

/** Names a state of a session id, so that nobody takes an older one for it. */
export function markOf(session: Session | undefined): string {
  return session ? `${session.instanceId} ${session.turn}` : 'none';
}

/** Parts of the JSON of {@link sessionData} that every session's has, whatever was said in it. */
export const ALWAYS_SHOWN: readonly string[] = [
  '{"variables":{',
  '},"messages":[',
  '],"pathwayId":"',
  '","currentNodeId":',
  ',"channel":"',
  '","provider":',
  ',"status":"active",',
  ',"startedAt":"20',
  'Z","lastActivityAt":"20',
  'Z"}',
];

/** What the API shows of a session as `state` or `data`. */
export function sessionData(session: Session) {
  return {
    variables: session.state.variables,
    messages: session.state.messages.filter(({ internal }) => !internal).map(shownMessage),
    pathwayId: session.pathwayId,
    currentNodeId: session.state.currentNodeId,
    channel: session.channel,
    provider: session.provider,
    status: 'active' as const,
    ...(session.callId === null ? {} : { callId: session.callId }),
    startedAt: session.startedAt,
    lastActivityAt: session.lastActivityAt,
  };
}

function shownMessage({ role, content, tool_calls, tool_call_id, name }: SessionMessage) {
  return {
    role,
    content,
    ...(tool_calls ? { tool_calls: [...tool_calls] } : {}),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    ...(name === undefined ? {} : { name }),
  };
}
