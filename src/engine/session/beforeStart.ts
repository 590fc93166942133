import type { AgentRelease } from '../../agents/releases/release.ts';
import { CallwayError } from '../../base/errors.ts';
import { noopTracer, type Tracer, withSpan } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { GuardedHttpClient } from '../../http/client.ts';
import { customerOf, type MemoryStore } from '../memory/customerMemory.ts';
import { askBeforeStart, type BeforeStartAnswer } from './beforeStartRequest.ts';
import type { HistoryEvent, Session, SessionState } from './session.ts';
import { customerNumberOf } from './sessionFacts.ts';
import { type SessionPolicy, sessionPolicy } from './sessionPolicy.ts';

export type BeforeStartClient = GuardedHttpClient;

export interface BeforeStartDeps {
  /** Returns what the URL of a session's `beforeStartConfig` is asked by. */
  readonly clientOf: (policy: SessionPolicy) => BeforeStartClient;
  readonly memory: MemoryStore;
  readonly clock: Clock;
  /** Default: no tracing. */
  readonly tracing?: Tracer;
}

interface StartedState {
  readonly state: SessionState;
  readonly events: readonly HistoryEvent[];
}

/** Gathers what a session starts with, before its first turn. */
export type BeforeStart = (
  session: Session,
  release: AgentRelease,
  signal: AbortSignal,
  traceparent?: string,
) => Promise<StartedState>;

/** Adds an error to the session's history. */
type Note = (code: string, message: string, data?: Readonly<Record<string, unknown>>) => void;

/**
 * Asks the URL of `beforeStartConfig`, and loads the customer's memory. A failed request is recorded, and the session
 * starts without its answer.
 */
export function createBeforeStart(deps: BeforeStartDeps): BeforeStart {
  return async (session, release, signal, traceparent) => {
    const events: HistoryEvent[] = [];
    const note: Note = (code, message, data = {}) => {
      const at = new Date(deps.clock.now()).toISOString();
      events.push({ type: 'error', at, data: { code, message, ...data } });
    };
    const answer = await ask(deps, session, release, signal, traceparent).catch((error: unknown) => {
      if (signal.aborted) throw signal.reason;
      note('before_start_failed', error instanceof CallwayError ? error.message : 'It failed');
      return {};
    });
    const state = startingAt(release, withAnswer(session.state, answer, note), note);
    const customer =
      release.agent.memoryEnabled && sessionPolicy(state).remembersCustomer
        ? customerOf(state.variables, state.call && customerNumberOf(state.call))
        : undefined;
    const memory = customer === undefined ? undefined : await deps.memory.find(session.projectId, customer);
    return { state: { ...state, memory: memory ?? null }, events };
  };
}

async function ask(
  { clientOf, tracing = noopTracer }: BeforeStartDeps,
  session: Session,
  { agent }: AgentRelease,
  signal: AbortSignal,
  parent: string | undefined,
): Promise<BeforeStartAnswer> {
  const config = agent.beforeStartConfig;
  if (!config) return {};
  const span = tracing.startSpan('before start', { kind: 'client', parent });
  const client = clientOf(sessionPolicy(session.state));
  return await withSpan(span, () => askBeforeStart(client, config, session, signal, span.traceparent));
}

/** Variables that the session was created with go before those of the answer. */
function withAnswer(
  state: SessionState,
  { variables, language, greeting, nodeId, reject }: BeforeStartAnswer,
  note: Note,
): SessionState {
  if (reject && !state.call) {
    note('reject_ignored', 'reject is for calls; this session has none', { status: reject.status });
  }
  return {
    ...state,
    variables: { ...variables, ...state.variables, ...(language ? { language } : {}) },
    ...(greeting ? { greeting } : {}),
    ...(nodeId ? { startNodeId: nodeId } : {}),
    ...(reject && state.call ? { rejectedWith: reject.status } : {}),
  };
}

/** A node that the pathway does not have is recorded, and the session begins at its start. */
function startingAt({ pathway }: AgentRelease, state: SessionState, note: Note): SessionState {
  const { startNodeId, ...rest } = state;
  if (startNodeId === undefined || pathway.nodes.some(({ id }) => id === startNodeId)) return state;
  note('unknown_start_node', 'The pathway has no such node; the session begins at its start', {
    nodeId: startNodeId,
  });
  return rest;
}
