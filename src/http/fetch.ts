import type { GuardedHttpClient } from './client.ts';
import { HttpClientError } from './errors.ts';
import { HTTP_METHODS } from './exchange.ts';
import { responseText } from './response.ts';

/** The Fetch API, as far as libraries that take a `fetch` of their own need it. Bodies are texts. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface GuardedFetchLimits {
  /** The timeout of each request with its whole response. */
  readonly timeoutMs: number;
  /** The largest response. */
  readonly maxResponseBytes: number;
  /** Ends all requests; beside the signal of each request. */
  readonly signal: AbortSignal;
}

const NULL_BODY_STATUS: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * A `fetch` through the guarded client, for libraries that talk to a user's address. A response is read to its end
 * before it is returned, so that the limits hold for all of it; a redirect is an error.
 *
 * @throws {HttpClientError} The returned function throws it, and no other error.
 * @see https://fetch.spec.whatwg.org/
 */
export function createGuardedFetch(
  client: GuardedHttpClient,
  { timeoutMs, maxResponseBytes, signal }: GuardedFetchLimits,
): GuardedFetch {
  return async (url, init = {}) => {
    const method = HTTP_METHODS.find((name) => name === (init.method ?? 'GET').toUpperCase());
    const { body } = init;
    if (!method || (body !== undefined && body !== null && typeof body !== 'string')) {
      throw new HttpClientError('target_invalid_url', `the request ${init.method} cannot be sent`);
    }
    const response = await client.request({
      method,
      url: String(url),
      headers: [...new Headers(init.headers)].map(([key, value]) => ({ key, value })),
      body: typeof body === 'string' ? body : undefined,
      timeoutMs,
      maxResponseBytes,
      signal: init.signal ? AbortSignal.any([signal, init.signal]) : signal,
    });
    const { 'content-encoding': _, ...headers } = response.headers;
    const { status } = response;
    if (status >= 300 && status < 400 && status !== 304) {
      throw new HttpClientError(
        'response_invalid',
        `the server redirects (${status}), which is not followed`,
      );
    }
    if (status < 200 || status > 599) {
      throw new HttpClientError('response_invalid', `the server responded with the status ${status}`);
    }
    const text = NULL_BODY_STATUS.has(status) ? null : responseText(response);
    return new Response(text, { status, headers });
  };
}
