import { z } from 'zod';

import type { AgentConfig } from '../../agents/agentConfig.ts';
import type { AgentRelease } from '../../agents/release.ts';
import type { Clock } from '../../base/clock.ts';
import { CallwayError, invalid } from '../../base/errors.ts';
import { noopTracer, type Tracer, withSpan } from '../../base/tracing.ts';
import { type GuardedHttpClient, responseText } from '../../infra/httpClient/client.ts';
import { withTraceparent } from '../../infra/httpClient/headers.ts';
import { customerOf } from '../memory/customer.ts';
import type { HistoryEvent, Session } from './session.ts';
import type { MemoryStore } from './sessionStore.ts';

/** A person waits; what has not come by then is done without. */
const DEFAULT_BEFORE_START_TIMEOUT_MILLISECONDS = 3_000;
const MAX_ANSWER_BYTES = 262_144;

const variables = z.record(z.string().min(1).max(64), z.json());
/** The variables themselves, or in a field of that name. */
const answerSchema = z.union([z.object({ variables }).transform((answer) => answer.variables), variables]);

export interface PrepareDeps {
  readonly client: Pick<GuardedHttpClient, 'request'>;
  readonly memory: MemoryStore;
  readonly clock: Clock;
  /** Absent where nobody traces. */
  readonly tracing?: Tracer;
  /** The customer's number, for sessions that are calls. */
  readonly phoneNumberOf?: (projectId: string, callId: string) => Promise<string | undefined>;
}

/** What is known of a session before its first turn. */
export interface Prepared {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly memory: string | null;
  readonly events: readonly HistoryEvent[];
}

/** Whether somebody else is asked about sessions on this release before they begin. */
export function asksBeforeStart({ agent }: AgentRelease): boolean {
  return Boolean(agent.beforeStartConfig);
}

/**
 * Gathers what is to be known before a session's first turn: the variables that `beforeStartConfig` gives, and what
 * was learnt of the customer before. What cannot be had is noted, and the talk begins without it.
 */
export function createBeforeStart(deps: PrepareDeps) {
  return async (
    session: Session,
    release: AgentRelease,
    signal: AbortSignal,
    traceparent?: string,
  ): Promise<Prepared> => {
    const events: HistoryEvent[] = [];
    const note = (code: string, error: unknown) => {
      if (signal.aborted) throw signal.reason;
      const message = error instanceof CallwayError ? error.message : 'It failed';
      events.push({ type: 'error', at: new Date(deps.clock.now()).toISOString(), data: { code, message } });
    };
    const { beforeStartConfig, memoryEnabled } = release.agent;
    const given = beforeStartConfig
      ? await ask(deps, beforeStartConfig, session, signal, traceparent).catch((error: unknown) => {
          note('before_start_failed', error);
          return {};
        })
      : {};
    const customer = memoryEnabled ? await customerIn(deps, session, given) : undefined;
    const memory = customer === undefined ? undefined : await deps.memory.find(session.projectId, customer);
    return { variables: given, memory: memory ?? null, events };
  };
}

async function customerIn(
  { phoneNumberOf }: PrepareDeps,
  { projectId, callId, state }: Session,
  given: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const phoneNumber = callId === null ? undefined : await phoneNumberOf?.(projectId, callId);
  return customerOf({ ...given, ...state.variables }, phoneNumber);
}

function ask(
  deps: PrepareDeps,
  config: NonNullable<AgentConfig['beforeStartConfig']>,
  session: Session,
  signal: AbortSignal,
  parent: string | undefined,
): Promise<Record<string, unknown>> {
  const span = (deps.tracing ?? noopTracer).startSpan('before start', { kind: 'client', parent });
  return withSpan(span, () => send(deps, config, session, signal, span.traceparent));
}

async function send(
  { client }: PrepareDeps,
  config: NonNullable<AgentConfig['beforeStartConfig']>,
  session: Session,
  signal: AbortSignal,
  traceparent: string | undefined,
): Promise<Record<string, unknown>> {
  const { projectId, sessionId, channel } = session;
  const answer = await client.request({
    method: 'POST',
    url: config.url,
    headers: withTraceparent(
      [...(config.headers ?? []), { key: 'content-type', value: 'application/json' }],
      traceparent,
    ),
    body: JSON.stringify({ projectId, sessionId, channel, variables: session.state.variables }),
    timeoutMs: config.timeoutMs ?? DEFAULT_BEFORE_START_TIMEOUT_MILLISECONDS,
    maxResponseBytes: MAX_ANSWER_BYTES,
    signal,
  });
  if (answer.status < 200 || answer.status > 299)
    throw invalid('bad_status', `It answered with HTTP ${answer.status}`);
  const parsed = answerSchema.safeParse(parse(responseText(answer)));
  if (!parsed.success)
    throw invalid('bad_answer', 'It answered with something other than a JSON object of variables');
  return parsed.data;
}

function parse(text: string): unknown {
  try {
    return text.trim() === '' ? {} : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
