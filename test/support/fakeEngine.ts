import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import { invalid } from '../../src/base/errors.ts';
import type { ConversationEngine } from '../../src/engine/conversationEngine.ts';
import {
  type EndReason,
  type FunctionCall,
  type NewSession,
  newSessionState,
  type Session,
  type SessionMessage,
} from '../../src/engine/session/session.ts';
import type { TurnDone, TurnOutput, TurnRequest } from '../../src/engine/turn/turn.ts';
import { makeSession } from '../engine/support/makeSession.ts';

const AT = '2026-01-01T00:00:00.000Z';

/** Scripts one turn. An exception is the turn's failure; a missing `done` is added. */
export type TurnScript = (
  request: TurnRequest,
  session: Session,
  signal: AbortSignal,
) => AsyncIterable<TurnOutput>;

export interface FakeEngine extends ConversationEngine {
  /** Sets the scripts of the next turns, in order; the last one repeats. */
  play(...scripts: TurnScript[]): void;
  /** The requested turns. */
  readonly requests: { readonly session: NewSession; readonly request: TurnRequest }[];
  readonly ended: { readonly sessionId: string; readonly reason: EndReason }[];
  readonly created: NewSession[];
  /** The abort reasons of turns. */
  readonly aborted: unknown[];
  /** Forgets sessions, scripts, and what was asked of it. */
  forget(): void;
  messagesOf(sessionId: string): readonly SessionMessage[];
  /** Inserts a prepared session, as the session store does. @throws {CallwayError} 400 `session_id_in_use` */
  insert(session: Session): void;
  put(session: Partial<Session> & Pick<Session, 'projectId' | 'sessionId'>): Session;
}

/** The default usage of a scripted turn. */
export const SCRIPTED_USAGE = { modelCalls: 1, promptTokens: 11, completionTokens: 7, totalTokens: 18 };

/** Outputs these texts. */
export function saying(...texts: string[]): TurnScript {
  return async function* () {
    for (const text of texts) yield { type: 'text', text };
  };
}

/** Calls client-side tools. */
export function calling(...calls: FunctionCall[]): TurnScript {
  return async function* () {
    for (const [index, call] of calls.entries()) yield { type: 'tool_call', index, call };
  };
}

export function toolCall(id: string, name: string, args: unknown): FunctionCall {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

const BY_DEFAULT = saying('Hello');

/** Sessions in memory with scripted turns, stored as the engine stores them. */
export function createFakeEngine(): FakeEngine {
  const sessions = new Map<string, Session>();
  const scripts = [BY_DEFAULT];
  const preparedFor = new WeakMap<Session, NewSession>();
  const fake: FakeEngine = {
    requests: [],
    ended: [],
    created: [],
    aborted: [],
    play(...next) {
      scripts.splice(0, scripts.length, ...next);
    },
    forget() {
      sessions.clear();
      fake.play(BY_DEFAULT);
      for (const list of [fake.requests, fake.ended, fake.created, fake.aborted]) list.length = 0;
    },
    messagesOf: (sessionId) => sessions.get(sessionId)?.state.messages ?? [],
    put(given) {
      const { projectId, sessionId } = given;
      const session = { ...blank({ projectId, sessionId, channel: 'chat' }), ...given };
      sessions.set(given.sessionId, session);
      return session;
    },
    async prepare(wanted) {
      const session = blank(wanted);
      preparedFor.set(session, wanted);
      return {
        session,
        started: { type: 'session_started', at: AT, data: {} },
        agent: newAgentConfig('Agent'),
      };
    },
    prepareAgain: (wanted) => fake.prepare(wanted),
    insert(session) {
      if (sessions.has(session.sessionId)) throw invalid('session_id_in_use', 'A live session has this id');
      const wanted = preparedFor.get(session);
      if (wanted) fake.created.push(wanted);
      sessions.set(session.sessionId, session);
    },
    async create(wanted) {
      const { session } = await fake.prepare(wanted);
      fake.insert(session);
      return session;
    },
    start: ({ projectId, sessionId }) => fake.find(projectId, sessionId),
    releaseOf: () => Promise.reject(new Error('the fake engine has no releases')),
    knowRelease: () => undefined,
    async find(projectId, sessionId) {
      const session = sessions.get(sessionId);
      return session?.projectId === projectId ? session : undefined;
    },
    withAllMessages: async (session) => session,
    findContinued: async () => undefined,
    attach: (projectId, sessionId) => fake.find(projectId, sessionId),
    detach: () => undefined,
    async runTurn(wanted, read, sink, signal) {
      const found = sessions.get(wanted.sessionId);
      const request = await read(found ?? blank(wanted));
      const session = found ?? (await fake.create(wanted));
      fake.requests.push({ session: wanted, request });
      const script = (scripts.length > 1 ? scripts.shift() : scripts[0]) ?? saying();
      await sink({ type: 'start', model: 'scripted-model' });
      const said: Said = { text: '', calls: [], isDone: false };
      try {
        for await (const piece of script(request, session, signal)) {
          signal.throwIfAborted();
          note(said, piece);
          await sink(piece);
        }
        const finishReason = said.calls.length > 0 ? 'tool_calls' : 'stop';
        if (!said.isDone) await sink(done({ finishReason }));
        said.isDone = true;
      } finally {
        if (!said.isDone) fake.aborted.push(signal.aborted ? signal.reason : 'left');
        if (said.isDone || said.text !== '') sessions.set(wanted.sessionId, after(session, request, said));
      }
    },
    heardAfterEnd: async () => undefined,
    async end(projectId, sessionId, reason) {
      if (sessions.get(sessionId)?.projectId !== projectId) return false;
      fake.ended.push({ sessionId, reason });
      return sessions.delete(sessionId);
    },
    endIdle: ({ projectId, sessionId }) => fake.end(projectId, sessionId, 'idle'),
  };
  return fake;
}

export function done(more: Partial<TurnDone> = {}): TurnDone {
  const { finishReason = 'stop' } = more;
  return { type: 'done', ended: null, model: 'scripted-model', usage: SCRIPTED_USAGE, ...more, finishReason };
}

interface Said {
  text: string;
  calls: FunctionCall[];
  isDone: boolean;
}

function note(said: Said, piece: TurnOutput): void {
  if (piece.type === 'text' || piece.type === 'filler') said.text += piece.text;
  if (piece.type === 'tool_call') said.calls.push(piece.call);
  if (piece.type === 'done') said.isDone = true;
}

function after(session: Session, { input, history = [] }: TurnRequest, said: Said): Session {
  const asked: Omit<SessionMessage, 'at'>[] =
    input.kind === 'user_message'
      ? [{ role: 'user', content: input.text }]
      : input.kind === 'tool_results'
        ? input.results.map(({ toolCallId, content }) => ({
            role: 'tool',
            content,
            tool_call_id: toolCallId,
          }))
        : [];
  const answer: Omit<SessionMessage, 'at'> = {
    role: 'assistant',
    content: said.text === '' ? null : said.text,
    ...(said.calls.length > 0 ? { tool_calls: said.calls } : {}),
    ...(said.isDone ? {} : { interrupted: true }),
  };
  const isSilent = said.text === '' && said.calls.length === 0;
  const added = [...history, ...asked, ...(isSilent ? [] : [answer])].map((one) => ({ ...one, at: AT }));
  const messages = [...session.state.messages, ...added];
  return {
    ...session,
    turn: session.turn + 1,
    state: { ...session.state, messages, pendingToolCalls: said.calls },
  };
}

function blank({ projectId, sessionId, channel, provider, callId, variables }: NewSession): Session {
  return makeSession({
    projectId,
    sessionId,
    instanceId: `instance-of-${sessionId}`,
    channel,
    provider: provider ?? null,
    callId: callId ?? null,
    pathwayId: 'pathway-1',
    startedAt: AT,
    lastActivityAt: AT,
    state: newSessionState(variables ?? {}),
  });
}
