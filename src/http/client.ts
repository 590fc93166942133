import type { Clock } from '../base/values/clock.ts';
import { HttpClientError } from './errors.ts';
import { createConnector, exchange, type HttpMethod, type OutgoingRequest } from './exchange.ts';
import { checkHeaders, type HeaderEntry } from './headers.ts';
import { createDnsLookup, type Lookup, resolveTarget } from './lookup.ts';
import type { BuildConnector } from './pacedSocket.ts';
import type { HttpResponse } from './response.ts';
import { checkTarget, type TargetPolicy } from './target.ts';

/** Larger than any tool result that a model can use. */
export const DEFAULT_MAX_RESPONSE_BYTES = 1_048_576;

export interface GuardedRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers?: readonly HeaderEntry[];
  readonly body?: string | Uint8Array;
  /** The time for DNS, connection, request and response. */
  readonly timeoutMs: number;
  /** @default DEFAULT_MAX_RESPONSE_BYTES */
  readonly maxResponseBytes?: number;
  /**
   * Limits a response whose status is what matters. At most the first `maxBytes` of its body are read, and only those
   * that arrive within `bodyTimeoutMs` after the headers; then the connection is closed. `timeoutMs` ends with the headers.
   * A failure after them ends the body.
   */
  readonly excerpt?: { readonly maxBytes: number; readonly bodyTimeoutMs: number };
  readonly signal?: AbortSignal;
}

interface GuardedResponse extends HttpResponse {
  readonly durationMs: number;
}

/**
 * An HTTP client for URLs that users configure. It reaches only addresses that the policy allows (SSRF protection).
 */
export interface GuardedHttpClient {
  /**
   * Sends one request once, on a connection of its own. Redirects are not followed.
   *
   * @throws {HttpClientError} No other errors.
   */
  request(request: GuardedRequest): Promise<GuardedResponse>;
  /** Aborts running requests and closes their connections. Idempotent. */
  close(reason?: string): Promise<void>;
}

export interface GuardedHttpClientDeps {
  readonly policy: TargetPolicy;
  readonly clock: Clock;
  readonly userAgent: string;
  /**
   * Resolves host names. All addresses of a result are checked before one is used. @default DNS servers of the system
   */
  readonly lookup?: Lookup;
  /** Connects to checked addresses only. @default TCP and TLS with Node's trusted certificates */
  readonly buildConnector?: BuildConnector;
}

/**
 * Resolves a name once per request, rejects it when any of its addresses is not allowed, and connects to the checked
 * addresses themselves: a name cannot change its address between check and connection (DNS rebinding). TLS and the Host
 * header use the name.
 */
export function createGuardedHttpClient(deps: GuardedHttpClientDeps): GuardedHttpClient {
  const { policy, clock, userAgent, lookup = createDnsLookup(), buildConnector } = deps;
  const running = new Map<Deadline, Promise<unknown>>();
  let isClosed = false;

  async function perform(request: GuardedRequest, deadline: Deadline): Promise<HttpResponse> {
    const { signal } = deadline;
    const { excerpt } = request;
    signal.throwIfAborted();
    const refused = checkTarget(request.url, policy) ?? checkHeaders(request.headers ?? []);
    if (refused) throw refused;
    const outgoing: OutgoingRequest = {
      url: new URL(request.url),
      method: request.method,
      headers: withOwnHeaders(request.headers ?? [], userAgent),
      body: request.body,
      maxResponseBytes: request.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
      signal,
      excerpt: excerpt && {
        maxBytes: excerpt.maxBytes,
        startTimer(stop) {
          deadline.end();
          return clock.setTimer(stop, excerpt.bodyTimeoutMs);
        },
      },
    };
    const addresses = await resolveTarget(outgoing.url, { lookup, policy }, signal);
    return exchange(createConnector(outgoing, addresses, buildConnector), outgoing);
  }

  async function request(request: GuardedRequest, deadline: Deadline): Promise<GuardedResponse> {
    const startedMs = clock.monotonicMs();
    try {
      const response = await perform(request, deadline);
      return { ...response, durationMs: clock.monotonicMs() - startedMs };
    } catch (error) {
      throw deadline.signal.aborted ? deadline.signal.reason : error;
    } finally {
      running.delete(deadline);
      deadline.end();
    }
  }

  return {
    request(asked) {
      const deadline = startDeadline({ clock, timeoutMs: asked.timeoutMs, signal: asked.signal });
      if (isClosed) deadline.abort('the client is closed');
      const response = request(asked, deadline);
      running.set(deadline, response);
      return response;
    },
    async close(reason = 'the client was closed') {
      isClosed = true;
      for (const deadline of running.keys()) deadline.abort(reason);
      await Promise.allSettled(running.values());
    },
  };
}

/** The signal that ends a request: timeout, abort by the caller, or closed client. */
interface Deadline {
  /** The signal, whose reason is an {@link HttpClientError}: `timeout` or `aborted`. */
  readonly signal: AbortSignal;
  abort(message: string): void;
  /** Removes the timer and the listener. Idempotent. */
  end(): void;
}

export function startDeadline(options: {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}): Deadline {
  const { clock, timeoutMs, signal } = options;
  const controller = new AbortController();
  const abort = (message: string) => controller.abort(new HttpClientError('aborted', message));
  const onAbort = () => abort('the request was aborted by its caller');
  const timer = clock.setTimer(() => {
    controller.abort(new HttpClientError('timeout', `no complete response within ${timeoutMs} ms`));
  }, timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    signal: controller.signal,
    abort,
    end() {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

function withOwnHeaders(headers: readonly HeaderEntry[], userAgent: string): HeaderEntry[] {
  const given = new Set(headers.map(({ key }) => key.toLowerCase()));
  const own = [
    { key: 'user-agent', value: userAgent },
    { key: 'accept', value: '*/*' },
  ].filter(({ key }) => !given.has(key));
  return [...own, { key: 'accept-encoding', value: 'identity' }, ...headers];
}
