import { Agent, type Dispatcher, errors, fetch as undiciFetch } from 'undici';
import type { TargetGuard } from '../../http/lookup.ts';
import { guardedLookup } from '../../http/lookup.ts';
import { pacedConnector } from '../../http/pacedSocket.ts';
import { boundedResponse } from '../../http/response.ts';
import { ModelError } from '../ports/modelError.ts';

/** Keeps connections over the pauses of a conversation, so that a turn does not start with a TLS handshake. */
const KEEP_ALIVE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** Requests to one vendor, over connections of their own. */
export interface VendorFetch {
  readonly fetch: typeof fetch;
  /** Closes the connections; running requests fail. Idempotent. */
  close(): Promise<void>;
}

/**
 * Creates a fetch whose responses, including errors, are bounded in size. It has no timeout; callers set one.
 *
 * @param guard - Checks addresses that users configure; undefined for the operator's own.
 * @throws {ModelError} `model_malformed` From the returned function, or from the body, when the response is too long.
 */
export function createVendorFetch(baseUrl: string, guard: TargetGuard | undefined): VendorFetch {
  const agent = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: pacedConnector({
      timeout: CONNECT_TIMEOUT_MS,
      ...(guard ? { lookup: guardedLookup(new URL(baseUrl), guard) } : {}),
    }),
  });
  return { fetch: fetchOver(agent, guard ? 'error' : 'follow'), close: () => agent.destroy() };
}

/** Node's own fetch has the same code but other types, and cannot use these connections. */
function fetchOver(dispatcher: Dispatcher, redirect: 'error' | 'follow'): typeof fetch {
  const fetchWith = undiciFetch as unknown as (input: unknown, init: unknown) => Promise<Response>;
  return async (input, init) => {
    const response = await fetchWith(input, { ...init, redirect, dispatcher }).catch((error: unknown) => {
      throw isHeaderOverflow(error) ? tooLong('its headers') : error;
    });
    return boundedResponse(response, (maxBytes) => tooLong(`a body of more than ${maxBytes} bytes`));
  };
}

function isHeaderOverflow(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof errors.HeadersOverflowError;
}

/** The same request would have the same answer. */
function tooLong(what: string): ModelError {
  return new ModelError('model_malformed', `The vendor's answer is too long: ${what}`, { retryable: false });
}
