import { type AgentConfig, newAgentConfig } from '../../src/agents/agentConfig.ts';
import type { Amounts } from '../../src/agents/cost/usage.ts';
import { type PathwayInput, pathwaySchema } from '../../src/agents/pathway/schema/pathwaySchema.ts';
import { createTemplateCache } from '../../src/agents/pathway/templates.ts';
import type { AgentRelease } from '../../src/agents/releases/release.ts';
import type { Tool } from '../../src/agents/tool.ts';
import { ComputeShares } from '../../src/base/async/computeShares.ts';
import { CallwayError, invalid } from '../../src/base/errors.ts';
import type { Tracer } from '../../src/base/tracing.ts';
import { type Clock, systemClock } from '../../src/base/values/clock.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import type { ConversationEngine } from '../../src/engine/conversationEngine.ts';
import { createConversationEngine } from '../../src/engine/createConversationEngine.ts';
import { PromptPrefixes } from '../../src/engine/prompt/prompts.ts';
import { type TemplateProblem, TemplateReports } from '../../src/engine/prompt/templateReports.ts';
import { AttachedSessions } from '../../src/engine/session/attachedSessions.ts';
import type { BeforeStart } from '../../src/engine/session/beforeStart.ts';
import type { CallFacts, HistoryEvent, Session, SessionMessage } from '../../src/engine/session/session.ts';
import type { SessionLock } from '../../src/engine/session/sessionLock.ts';
import type { SessionEnding, SessionStore, TurnHistory } from '../../src/engine/session/sessionStore.ts';
import { WriteBehind } from '../../src/engine/session/writeBehind.ts';
import type { AddOptOut, ScheduleCallback } from '../../src/engine/tools/callbacks.ts';
import type { KnowledgeRetriever } from '../../src/engine/tools/knowledge.ts';
import type { ToolRunner } from '../../src/engine/tools/toolRunner.ts';
import type { TurnInput, TurnOutput, TurnRequest } from '../../src/engine/turn/turn.ts';
import type { ModelChoice, ToolFailure } from '../../src/engine/turn/turnContext.ts';
import type { NewLiveEvent } from '../../src/events/liveEvent.ts';
import type { ChatModel } from '../../src/models/ports/chatModel.ts';

export const PROJECT = 'project-1';

export interface MemoryOptions {
  readonly model: ChatModel;
  /** The models that agents and nodes name. */
  readonly choose?: ModelChoice['choose'];
  readonly pathway: PathwayInput;
  readonly agent?: Partial<AgentConfig>;
  readonly tools?: readonly Tool[];
  readonly toolRunner?: ToolRunner;
  readonly knowledge?: KnowledgeRetriever;
  readonly clock?: Clock;
  /** Default: a lock that is always free. */
  readonly lock?: SessionLock;
  /** Called at each look-up of the current release. */
  readonly onReleaseLookUp?: () => void;
  /** Called for errors beside a turn. Default: fails the turn. */
  readonly onError?: (error: unknown, what: string) => void;
  /** Default: gives a session nothing. */
  readonly beforeStart?: BeforeStart;
  /** The session's call. */
  readonly call?: CallFacts | undefined;
  readonly scheduleCallback?: ScheduleCallback;
  readonly addOptOut?: AddOptOut;
  /** Default: no tracing. */
  readonly tracing?: Tracer;
  /** Wraps the session store. */
  readonly wrapSessions?: (sessions: SessionStore) => SessionStore;
}

export interface MemoryEngine {
  readonly engine: ConversationEngine;
  readonly sessions: Map<string, Session>;
  readonly records: TurnHistory[];
  readonly endings: SessionEnding[];
  readonly templateProblems: TemplateProblem[];
  readonly failedTools: ToolFailure[];
  /** The events of all turns. */
  events(): HistoryEvent[];
  /** What was told live. */
  readonly liveEvents: NewLiveEvent[];
  /** What was counted. */
  readonly used: object[];
  /** What was used and is in no turn. */
  readonly addedUsage: Amounts[];
  turn(
    input: TurnInput,
    more?: Partial<TurnRequest> & { variables?: Record<string, unknown> },
  ): Promise<TurnOutput[]>;
  say(text: string, more?: Partial<TurnRequest> & { variables?: Record<string, unknown> }): Promise<string>;
  session(): Session;
}

/** The conversation engine over stores in memory. */
export function memoryEngine(options: MemoryOptions): MemoryEngine {
  const sessions = new Map<string, Session>();
  const records: TurnHistory[] = [];
  const endings: SessionEnding[] = [];
  const templateProblems: TemplateProblem[] = [];
  const failedTools: ToolFailure[] = [];
  const liveEvents: NewLiveEvent[] = [];
  const used: object[] = [];
  const addedUsage: Amounts[] = [];
  const release: AgentRelease = {
    agent: { ...newAgentConfig('Test'), ...options.agent },
    pathwayId: 'pathway-1',
    pathwayVersion: 1,
    pathway: pathwaySchema.parse(options.pathway),
    tools: options.tools ?? [],
  };
  const wrap = options.wrapSessions ?? ((stored) => stored);
  const { clock = systemClock } = options;
  const store = wrap(memorySessions(sessions, records, endings));
  const models = {
    chat: options.model,
    smart: 'm-smart',
    balance: 'm-balance',
    turbo: 'm-turbo',
    ...(options.choose ? { choose: options.choose } : {}),
  };
  const conversations = createConversationEngine({
    sessions: store,
    attached: new AttachedSessions({
      sessions: store,
      attachedSessions: new WriteBehind({
        sessions: store,
        spool: { put: async () => undefined, drop: async () => undefined, readPending: async () => [] },
        clock,
        onError: options.onError ?? (() => undefined),
      }),
      lock: options.lock ?? openLock,
      clock,
    }),
    releases: {
      keep: async () => 'release-1',
      find: async () => release,
      add: () => undefined,
      stampOf: async () => undefined,
      removeUnused: async () => undefined,
    },
    async offeredReleases() {
      options.onReleaseLookUp?.();
      return { live: release };
    },
    turn: {
      models,
      tools: options.toolRunner ?? { run: async () => ({ ok: false, text: 'no tools here' }) },
      templates: createTemplateCache(),
      // The first templates of a process are slow, and a simulated clock would never end the rest after them.
      shares: new ComputeShares({ clock: systemClock, startStopwatch: () => ({ elapsedMs: () => 0 }) }),
      ...(options.knowledge ? { knowledge: options.knowledge } : {}),
      addOptOut: options.addOptOut,
      ...(options.scheduleCallback ? { scheduleCallback: options.scheduleCallback } : {}),
      clock,
      prefixes: new PromptPrefixes(),
      templateReports: new TemplateReports((_session, problem) => void templateProblems.push(problem)),
      onToolFailed: (_session, failure) => void failedTools.push(failure),
    },
    beforeStart: options.beforeStart ?? (async ({ state }) => ({ state, events: [] })),
    endings: {
      callOf: async () => options.call && { answered: true, record: true, facts: options.call },
      finalizeTimeoutSeconds: 120,
      onEnded: () => undefined,
    },
    usage: {
      admit: async () => undefined,
      add: (_projectId, usage) => void used.push(usage),
      addUsage: async (_instanceId, amounts) => void addedUsage.push(amounts),
      updateCost: async () => undefined,
    },
    liveEvents: { publish: (event) => void liveEvents.push(event) },
    makeId: uuidV7,
    ...(options.tracing ? { tracing: options.tracing } : {}),
    onError:
      options.onError ??
      ((error) => {
        throw error;
      }),
  });
  const turn: MemoryEngine['turn'] = async (input, { variables, ...more } = {}) => {
    const wanted = {
      projectId: PROJECT,
      sessionId: 's',
      ...(options.call
        ? { channel: 'phone' as const, callId: options.call.callId }
        : { channel: 'chat' as const }),
      ...(variables ? { variables } : {}),
    };
    const outputs: TurnOutput[] = [];
    const sink = (output: TurnOutput) => void outputs.push(output);
    const { signal } = new AbortController();
    await conversations.runTurn(wanted, () => ({ input, ...more }), sink, signal);
    return outputs;
  };
  return {
    engine: conversations,
    sessions,
    records,
    endings,
    templateProblems,
    failedTools,
    liveEvents,
    used,
    addedUsage,
    turn,
    events: () => records.flatMap(({ events }) => events),
    async say(text, more) {
      const outputs = await turn({ kind: 'user_message', text }, more);
      return outputs
        .map((output) => (output.type === 'text' || output.type === 'filler' ? output.text : ''))
        .join('');
    },
    session() {
      const session = sessions.get('s');
      if (!session) throw new Error('no session');
      return session;
    },
  };
}

/** A lock that is always free. */
const openLock: SessionLock = {
  acquire: async () => ({
    lost: new AbortController().signal,
    wasContended: false,
    release: async () => undefined,
  }),
};

function memorySessions(
  sessions: Map<string, Session>,
  records: TurnHistory[],
  endings: SessionEnding[],
): SessionStore {
  const said = new Map<string, readonly SessionMessage[]>();
  return {
    async insert(session, started) {
      if (sessions.has(session.sessionId)) throw invalid('session_id_in_use', 'in use');
      sessions.set(session.sessionId, session);
      records.push({ messages: [], events: [started] });
    },
    findByDigest: async () => undefined,
    messagesBefore: async ({ instanceId, state }) =>
      (said.get(instanceId) ?? []).slice(0, state.messagesBefore ?? 0),
    find: async (_project, sessionId) => sessions.get(sessionId),
    async saveTurn(session, record) {
      const live = sessions.get(session.sessionId);
      if (live?.instanceId !== session.instanceId || live.turn !== session.turn - 1) {
        throw new CallwayError('conflict', 'session_changed', 'changed');
      }
      sessions.set(session.sessionId, session);
      said.set(session.instanceId, [...(said.get(session.instanceId) ?? []), ...record.messages]);
      records.push(record);
    },
    async appendLateTurn(_session, record) {
      // An earlier attempt whose response was lost may have stored it.
      if (!records.includes(record)) records.push(record);
    },
    async end(_project, sessionId, ending) {
      const session = sessions.get(sessionId);
      if (!session) return undefined;
      const due = await ending(session);
      if (!due) return undefined;
      endings.push(due);
      sessions.delete(sessionId);
      return session;
    },
    search: async () => ({ items: [], total: 0, nextCursor: null }),
    idle: async () => [],
  };
}
