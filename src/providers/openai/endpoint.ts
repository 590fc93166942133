import OpenAI from 'openai';
import { Agent, type Dispatcher, fetch as undiciFetch } from 'undici';
import { guardedLookup } from '../../infra/httpClient/guardedLookup.ts';
import type { WebSocketGuard } from '../../infra/httpClient/webSocket.ts';

/** The SDK would take it from the environment, which only the configuration reads. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1';
/** Keeps connections over the pauses of a conversation, so that a turn does not start with a TLS handshake. */
const KEEP_ALIVE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** The SDK needs a timeout; this is the longest that setTimeout takes. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

export interface EndpointOptions {
  /** Absent for an endpoint without keys. */
  readonly apiKey?: string | undefined;
  /** Default {@link OPENAI_BASE_URL}. */
  readonly baseUrl?: string | undefined;
  /** What the address of a user is held to. */
  readonly guard?: WebSocketGuard | undefined;
}

/** An OpenAI-compatible endpoint: the SDK's client over connections of its own. */
export interface OpenAiEndpoint {
  readonly client: OpenAI;
  /** Host name, without the port. */
  readonly host: string;
  /** Removes the key, and everything that looks like one, from a text. */
  redact(text: string): string;
  /** Closes the connections; running requests fail. Idempotent. */
  close(): Promise<void>;
}

/** The SDK's retries, timeouts, logs and environment variables are off: Callway has its own. */
export function createOpenAiEndpoint({
  apiKey,
  baseUrl: given = OPENAI_BASE_URL,
  guard,
}: EndpointOptions): OpenAiEndpoint {
  // A user's address is an origin.
  const baseUrl = guard ? `${given}/v1` : given;
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: CONNECT_TIMEOUT_MS,
      ...(guard ? { lookup: guardedLookup(new URL(baseUrl), guard) } : {}),
    },
  });
  const client = new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL: baseUrl,
    organization: null,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
    fetch: createFetch(agent, guard ? 'error' : 'follow'),
    defaultHeaders: {
      // A compressed stream may be held back until a block is full.
      'accept-encoding': 'identity',
      ...(apiKey === undefined ? { authorization: null } : {}),
    },
  });
  return {
    client,
    host: new URL(baseUrl).hostname,
    redact: (text) => redact(text, apiKey),
    close: () => agent.destroy(),
  };
}

/** Node's own fetch has the same code but other types, and cannot use these connections. */
function createFetch(dispatcher: Dispatcher, redirect: 'error' | 'follow'): typeof fetch {
  const fetchWith = undiciFetch as unknown as (input: unknown, init: unknown) => Promise<Response>;
  return (input, init) => fetchWith(input, { ...init, redirect, dispatcher });
}

function redact(text: string, apiKey: string | undefined): string {
  const withoutKey = apiKey ? text.replaceAll(apiKey, '[redacted]') : text;
  return withoutKey.replace(/\b(?:sk|pk|dk)-[\w*.-]{6,}|\bBearer\s+\S+/g, '[redacted]');
}
