import OpenAI from 'openai';
import type { TargetGuard } from '../../http/lookup.ts';
import { createVendorFetch } from '../../models/http/vendorFetch.ts';
import { isRecord, type Redactor } from './errors.ts';

/** The SDK would take it from the environment, which only the configuration reads. */
export const OPENAI_BASE_URL = 'https://api.openai.com/v1';
/** The SDK needs a timeout; this is the longest that setTimeout takes. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

export interface EndpointOptions {
  /** The API key; undefined for an endpoint without keys. */
  readonly apiKey?: string | undefined;
  /** The base URL. Default: {@link OPENAI_BASE_URL}. */
  readonly baseUrl?: string | undefined;
  /** A path after the base URL. */
  readonly path?: string;
  /** Checks addresses that users configure; undefined for the operator's own. */
  readonly guard?: TargetGuard | undefined;
}

/** An OpenAI-compatible endpoint: the SDK's client over connections of its own. */
export interface OpenAiEndpoint extends Redactor {
  readonly client: OpenAI;
  /** The host name without the port. */
  readonly host: string;
  /** Closes the connections; running requests fail. Idempotent. */
  close(): Promise<void>;
}

/** The SDK's retries, timeouts, logs and environment variables are off: Callway has its own. */
export function createOpenAiEndpoint({
  apiKey,
  baseUrl: given = OPENAI_BASE_URL,
  guard,
  // A user's address is an origin.
  path = guard ? '/v1' : '',
}: EndpointOptions): OpenAiEndpoint {
  const baseUrl = `${given}${path}`;
  const { fetch, close } = createVendorFetch(baseUrl, guard);
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
    fetch: async (input, init) => withReadableError(await fetch(input, init)),
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
    close,
  };
}

function redact(text: string, apiKey: string | undefined): string {
  const withoutKey = apiKey ? text.replaceAll(apiKey, '[redacted]') : text;
  return withoutKey.replace(/\b(?:sk|pk|dk)-[\w*.-]{6,}|\bBearer\s+\S+/g, '[redacted]');
}

/** A WebSocket's address has a version, as that of the SDK has. @param baseUrl - Perhaps an origin. */
export function withVersion(baseUrl: string): string {
  return new URL(baseUrl).pathname === '/' ? new URL('/v1', baseUrl).href : baseUrl;
}

/**
 * The SDK reads `{error}` alone. Google sends a list of such, and servers such as vLLM and Mistral's a `message` or a
 * `detail`, which may be an object.
 */
async function withReadableError(response: Response): Promise<Response> {
  const { status, headers } = response;
  if (status < 400) return response;
  const text = await response.text();
  return new Response(JSON.stringify({ error: errorIn(text) }), { status, headers });
}

function errorIn(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    if (!isRecord(body)) return { message: text };
    if (isRecord(body.error)) return body.error;
    const message = body.error ?? body.message ?? body.detail ?? text;
    return { ...body, message: typeof message === 'string' ? message : JSON.stringify(message) };
  } catch {
    return { message: text };
  }
}
