import { z } from 'zod';

import type { AgentConfig } from '../../agents/agentConfig.ts';
import type { AgentRelease } from '../../agents/release.ts';
import type { Clock } from '../../base/clock.ts';
import { CallwayError, invalid } from '../../base/errors.ts';
import { noopTracer, type Tracer, withSpan } from '../../base/tracing.ts';
import { type GuardedHttpClient, responseText } from '../../infra/httpClient/client.ts';
import { withTraceparent } from '../../infra/httpClient/headers.ts';
import { customerOf, type MemoryStore } from '../memory/customerMemory.ts';
import type { HistoryEvent, Session } from './session.ts';

/** The customer waits: the session starts without a slower answer. */
const DEFAULT_TIMEOUT_MS = 3_000;
const MAX_RESPONSE_BYTES = 262_144;

const variables = z.record(z.string().min(1).max(64), z.json());
/** An object of variables, or one with the field `variables`. */
const answerSchema = z.union([z.object({ variables }).transform((answer) => answer.variables), variables]);

export interface BeforeStartDeps {
  readonly client: Pick<GuardedHttpClient, 'request'>;
  readonly memory: MemoryStore;
  readonly clock: Clock;
  /** Default: no tracing. */
  readonly tracing?: Tracer;
  /** The customer's phone number in a call. */
  readonly phoneNumberOf?: (projectId: string, callId: string) => Promise<string | undefined>;
}

/** What a session starts with. */
export interface StartValues {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly memory: string | null;
  readonly events: readonly HistoryEvent[];
}

/** Gathers what a session starts with, before its first turn. */
export type BeforeStart = (
  session: Session,
  release: AgentRelease,
  signal: AbortSignal,
  traceparent?: string,
) => Promise<StartValues>;

/**
 * Asks the URL of `beforeStartConfig` for variables, and loads the customer's memory. A failed request is recorded, and
 * the session starts without its variables.
 */
export function createBeforeStart(deps: BeforeStartDeps): BeforeStart {
  return async (session, release, signal, traceparent) => {
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
  { phoneNumberOf }: BeforeStartDeps,
  { projectId, callId, state }: Session,
  given: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const phoneNumber = callId === null ? undefined : await phoneNumberOf?.(projectId, callId);
  return customerOf({ ...given, ...state.variables }, phoneNumber);
}

function ask(
  deps: BeforeStartDeps,
  config: NonNullable<AgentConfig['beforeStartConfig']>,
  session: Session,
  signal: AbortSignal,
  parent: string | undefined,
): Promise<Record<string, unknown>> {
  const span = (deps.tracing ?? noopTracer).startSpan('before start', { kind: 'client', parent });
  return withSpan(span, () => send(deps, config, session, signal, span.traceparent));
}

async function send(
  { client }: BeforeStartDeps,
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
    timeoutMs: config.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
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
