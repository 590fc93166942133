import type { Scheduler } from 'fast-check';

import type { Tool } from '../../../../src/agents/tool.ts';
import { CallwayError } from '../../../../src/base/errors.ts';
import type { HeldLock, SessionLock } from '../../../../src/engine/session/sessionLock.ts';
import type { SessionStore, TurnHistory } from '../../../../src/engine/session/sessionStore.ts';
import { type SpokenDelivery, TurnCancelledError } from '../../../../src/engine/turn/delivery.ts';
import type { TurnOutput } from '../../../../src/engine/turn/turn.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../../../../src/models/ports/chatModel.ts';
import { ModelError } from '../../../../src/models/ports/modelError.ts';
import { type MemoryEngine, memoryEngine, PROJECT } from '../../../support/memoryEngine.ts';

/** How the model answers a turn. */
export type ModelScript =
  | 'answers'
  | 'fails first'
  | 'fails later'
  | 'calls a tool'
  | 'asks the documents'
  | 'ends the call';
/** When the client disconnects: never, after a number of outputs, at any step, or by an interruption. */
type Stay = 'to the end' | number | 'hangs up' | 'speaks on';

export interface Turn {
  readonly node: 0 | 1;
  readonly kind: 'user_message' | 'spoken' | 'unanswered_message';
  readonly model: ModelScript;
  readonly stay: Stay;
}

/** A turn as its client observed it. */
export interface Seen {
  readonly words: string;
  readonly turn: Turn;
  text: string;
  isDone: boolean;
  error: unknown;
  settled: number;
  told: number;
}

/** A stored turn, or another addition to a session's history. */
interface Kept {
  readonly instanceId: string;
  readonly turn: number;
  readonly record: TurnHistory;
}

interface Ended {
  readonly instanceId: string;
  readonly reason: string;
}

const LOOK_UP: Tool = {
  createdAt: '',
  updatedAt: '',
  id: 'tool-1',
  name: 'look_up',
  description: '',
  parameters: { type: 'object', properties: {} },
  http: { method: 'GET', url: 'https://example.com/', headers: [], timeoutMs: 1_000 },
};

/** One database request fails, possibly after it took effect. */
export interface Outage {
  /** Step number, counted from 0 once the gates are closed. */
  readonly request: number;
  readonly tookEffect: boolean;
}

/**
 * Two nodes that share a database and a lock, with a gate before and after each access of a turn to shared state.
 *
 * @param scheduler - Opens the gates, in an order of its choice, once `isGated`.
 */
export function interleavedNodes(scheduler: Scheduler, outage: Outage | null = null) {
  const world = { isGated: false };
  let requestsMade = 0;
  const gate = (label: string) => (world.isGated ? scheduler.schedule(Promise.resolve(), label) : undefined);
  const around = async <Result>(label: string, work: () => Result | Promise<Result>): Promise<Result> => {
    await gate(label);
    try {
      return await work();
    } finally {
      await gate(`${label} is answered`);
    }
  };
  const stored: Around = (label, work) => {
    const isOut = world.isGated && requestsMade === outage?.request;
    if (world.isGated) requestsMade += 1;
    return around(label, async () => {
      if (!isOut) return await work();
      if (outage?.tookEffect) await work();
      throw new CallwayError('unavailable', 'database_unavailable', 'away');
    });
  };
  const scripts = new Map<string, ModelScript>();
  const requests: ChatRequest[] = [];
  const kept: Kept[] = [];
  const ended: Ended[] = [];
  const errors: unknown[] = [];
  const lock = gatedLock(gate);
  const options = {
    model: gatedModel(gate, scripts, requests),
    pathway: {
      nodes: [
        {
          id: 'start',
          type: 'start' as const,
          data: {
            title: 'Talk',
            prompt: 'Answer.',
            tools: ['tool-1', 'end_call', 'query_knowledgebase'],
          },
        },
      ],
      edges: [],
    },
    tools: [LOOK_UP],
    toolRunner: {
      run: async (_tool: Tool, _text: string, _variables: object, signal: AbortSignal) => {
        await unlessAborted(gate('the tool runs'), signal);
        return { ok: true, text: 'found' };
      },
    },
    knowledge: {
      search: async (_project: string, _query: string, _options: object, signal: AbortSignal) => {
        await unlessAborted(gate('the documents are searched'), signal);
        return [];
      },
    },
    lock: lock.port,
    onError: (error: unknown) => void errors.push(error),
  };
  let store: SessionStore | undefined;
  const open = (): MemoryEngine =>
    memoryEngine({
      ...options,
      wrapSessions: (sessions) => {
        store ??= watched(sessions, kept, ended);
        return gatedStore(store, stored);
      },
    });
  const first = open();
  const nodes = [first, open()] as const;

  const take = async (words: string, turn: Turn): Promise<Seen> => {
    scripts.set(words, turn.model);
    const seen: Seen = { words, turn, text: '', isDone: false, error: undefined, settled: 0, told: 0 };
    const stop = new AbortController();
    const why = { 'hangs up': new Error('gone'), 'speaks on': new TurnCancelledError() }[String(turn.stay)];
    if (why) void gate(`the customer ${turn.stay}`)?.then(() => stop.abort(why));
    const delivery = deliveryOf(seen, around);
    const read = () => ({
      input: {
        kind:
          turn.kind === 'unanswered_message' ? ('unanswered_message' as const) : ('user_message' as const),
        text: words,
      },
      ...(turn.kind === 'user_message' ? {} : { delivery }),
    });
    const channel = turn.kind === 'user_message' ? 'chat' : 'phone';
    const wanted = { projectId: PROJECT, sessionId: 's', channel } as const;
    let pieces = 0;
    const sink = (output: TurnOutput) => {
      note(seen, output);
      pieces += 1;
      if (pieces === turn.stay) stop.abort(new Error('gone'));
      return gate('a piece is passed on');
    };
    await nodes[turn.node].engine.runTurn(wanted, read, sink, stop.signal).catch((error: unknown) => {
      seen.error = error;
    });
    return seen;
  };

  const live = () => first.sessions.get('s');
  return {
    world,
    nodes,
    take,
    live,
    kept,
    ended,
    requests,
    errors,
    isLocked: lock.isHeld,
    loseLock: lock.lose,
  };
}

function note(seen: Seen, output: TurnOutput): void {
  if (output.type === 'text' || output.type === 'filler') seen.text += output.text;
  if (output.type === 'done') seen.isDone = true;
}

function deliveryOf(seen: Seen, around: Around): SpokenDelivery {
  return {
    onSession: () => {
      seen.told += 1;
    },
    onNode: () => undefined,
    finish: () =>
      around('the answer is spoken', () => {
        seen.settled += 1;
        return { text: seen.text, interrupted: false };
      }),
    heardSoFar: () => ({ text: '', interrupted: false }),
  };
}

type Gate = (label: string) => Promise<void> | undefined;
type Around = <Result>(label: string, work: () => Result | Promise<Result>) => Promise<Result>;

/** Records what is stored. */
function watched(sessions: SessionStore, kept: Kept[], ended: Ended[]): SessionStore {
  const noted =
    (keep: SessionStore['saveTurn']): SessionStore['saveTurn'] =>
    async (session, record) => {
      await keep(session, record);
      kept.push({ instanceId: session.instanceId, turn: session.turn, record });
    };
  return {
    ...sessions,
    saveTurn: noted(sessions.saveTurn),
    appendLateTurn: noted(sessions.appendLateTurn),
    async end(projectId, sessionId, ending) {
      let reason: string | undefined;
      const session = await sessions.end(projectId, sessionId, async (live) => {
        const due = await ending(live);
        reason = due?.reason;
        return due;
      });
      if (session && reason) ended.push({ instanceId: session.instanceId, reason });
      return session;
    },
  };
}

function gatedStore(sessions: SessionStore, around: Around): SessionStore {
  return {
    ...sessions,
    insert: (...args) => around('insert', () => sessions.insert(...args)),
    find: (...args) => around('find', () => sessions.find(...args)),
    saveTurn: (...args) => around('save', () => sessions.saveTurn(...args)),
    appendLateTurn: (...args) => around('keep late', () => sessions.appendLateTurn(...args)),
    end: (...args) => around('end', () => sessions.end(...args)),
  };
}

/** Like the lock in Redis: granted in order, and lost by a holder that stalls. */
function gatedLock(gate: Gate) {
  const waiting: (() => void)[] = [];
  let holder: AbortController | undefined;
  let wasReleased = false;
  const passOn = () => {
    holder = undefined;
    waiting.shift()?.();
  };
  const hold = (wasContended: boolean): HeldLock => {
    const own = new AbortController();
    holder = own;
    return {
      lost: own.signal,
      wasContended,
      async release() {
        await gate('release');
        if (holder !== own) return;
        wasReleased = true;
        passOn();
      },
    };
  };
  const port: SessionLock = {
    async acquire() {
      await gate('lock');
      const hasWaited = holder !== undefined;
      while (holder) await new Promise<void>((resolve) => waiting.push(resolve));
      const held = hold(hasWaited || wasReleased);
      await gate('lock is answered');
      return held;
    },
  };
  return {
    port,
    isHeld: () => holder !== undefined,
    async lose() {
      await gate('the lock is lost');
      holder?.abort(new CallwayError('conflict', 'session_busy', 'lost'));
      passOn();
    },
  };
}

const CALLED_BY: Partial<Record<ModelScript, { readonly name: string; readonly arguments: string }>> = {
  'calls a tool': { name: 'look_up', arguments: '{}' },
  'asks the documents': { name: 'query_knowledgebase', arguments: '{"query":"why"}' },
  'ends the call': { name: 'end_call', arguments: '{}' },
};

function gatedModel(gate: Gate, scripts: Map<string, ModelScript>, requests: ChatRequest[]): ChatModel {
  return {
    name: 'gated',
    async *stream(request, signal): AsyncGenerator<ChatEvent> {
      requests.push(request);
      const step = async (label: string) => {
        await unlessAborted(gate(`the model ${label}`), signal);
        signal.throwIfAborted();
      };
      const { words, isAfterTool } = askedIn(request);
      const script = isAfterTool ? 'answers' : (scripts.get(words) ?? 'answers');
      const tool = CALLED_BY[script];
      await step('is asked');
      if (script === 'fails first') throw failure(true);
      yield { type: 'text', text: `To ${words}: ` };
      await step('goes on');
      if (script === 'fails later') throw failure(false);
      if (tool) yield { type: 'tool_call', index: 0, id: `call-${requests.length}`, ...tool };
      else yield { type: 'text', text: 'yes.' };
      await step('ends');
      yield { type: 'end', finishReason: tool ? 'tool_calls' : 'stop', model: request.model };
    },
  };
}

function failure(beforeFirstToken: boolean): ModelError {
  return new ModelError('model_unavailable', 'away', { beforeFirstToken });
}

function unlessAborted(work: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve(work).then(resolve, reject);
  });
}

/** The user's words in a model request, and whether a tool result follows them. */
export function askedIn({ messages }: ChatRequest): {
  readonly words: string;
  readonly isAfterTool: boolean;
} {
  const place = messages.findLastIndex(({ role }) => role === 'user');
  const isAfterTool = messages.slice(place).some(({ role }) => role === 'tool');
  const content = messages[place]?.content ?? '';
  return { words: typeof content === 'string' ? content : '', isAfterTool };
}
