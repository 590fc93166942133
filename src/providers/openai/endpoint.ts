import OpenAI from 'openai';
import { Agent, type Dispatcher, interceptors, fetch as undiciFetch } from 'undici';

import { type Completions, createCompletions } from './completions.ts';

/** OpenAI's own; the SDK would take it from the environment, which only the configuration reads. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1';
/** Keeps connections over the pauses of a talk, so that a turn does not begin with a TLS handshake. */
const KEEP_ALIVE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** As many as a moved endpoint needs; the key goes to no other host. */
const MOST_REDIRECTIONS = 3;
/** The SDK must have a limit of its own; this one never comes, since setTimeout takes no longer one. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

export interface EndpointSettings {
  /** Absent for an endpoint without keys. */
  readonly apiKey?: string | undefined;
  /** Default {@link OPENAI_BASE_URL}. */
  readonly baseUrl?: string | undefined;
}

/** An OpenAI-compatible endpoint: the SDK's client, with connections of its own. */
export interface OpenAiEndpoint {
  readonly client: OpenAI;
  readonly completions: Completions;
  /** Host name, without the port. */
  readonly host: string;
  /** Takes the key, and all that looks like one, out of a text that the endpoint wrote. */
  redact(text: string): string;
  /** Closes the connections; requests that still run fail. Idempotent. */
  close(): Promise<void>;
}

/** The SDK's retries, timeouts, logs and environment variables are off: all four are Callway's own matter. */
export function createOpenAiEndpoint({
  apiKey,
  baseUrl = OPENAI_BASE_URL,
}: EndpointSettings): OpenAiEndpoint {
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MOST_REDIRECTIONS }));
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
    fetch: fetchOver(dispatcher),
    ...(apiKey === undefined ? { defaultHeaders: { Authorization: null } } : {}),
  });
  return {
    client,
    completions: createCompletions(client, dispatcher),
    host: new URL(baseUrl).hostname,
    redact: (text) => redact(text, apiKey),
    close: () => agent.destroy(),
  };
}

/** Node's own fetch is of the same make, but of other types, and knows only connections of its own. */
function fetchOver(dispatcher: Dispatcher): typeof fetch {
  const fetchBy = undiciFetch as unknown as (input: unknown, init: unknown) => Promise<Response>;
  return (input, init) => fetchBy(input, { ...init, dispatcher });
}

function redact(text: string, apiKey: string | undefined): string {
  const withoutKey = apiKey ? text.replaceAll(apiKey, '[redacted]') : text;
  return withoutKey.replace(/\b(?:sk|pk|dk)-[\w*.-]{6,}|\bBearer\s+\S+/g, '[redacted]');
}
