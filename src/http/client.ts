import { unlessAborted } from '../base/async/unlessAborted.ts';
import type { Clock } from '../base/values/clock.ts';
import { bareHost } from './address.ts';
import { exchangeWithConfirmation } from './confirmedExchange.ts';
import { type Connect, createConnect, type Endpoint } from './connect.ts';
import { Connections, type SocketOptions } from './connections.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { HttpClientError } from './errors.ts';
import { exchange, type HttpMethod, type OutgoingRequest } from './exchange.ts';
import { checkHeaders, type HeaderEntry } from './headers.ts';
import { createDnsLookup, isAddress, type Lookup, resolveTarget } from './lookup.ts';
import type { HttpResponse } from './response.ts';
import { checkTarget, type TargetPolicy } from './target.ts';

/** Connect timeout for each address but the last, which gets the remaining time. */
const ADDRESS_ATTEMPT_MS = 3_000;
/** Larger than any tool result that a model can use. */
export const DEFAULT_MAX_RESPONSE_BYTES = 1_048_576;

export interface GuardedRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers?: readonly HeaderEntry[];
  readonly body?: string | Uint8Array;
  /**
   * Awaited before the last byte of the body is sent; a rejection aborts the request, which the server then never
   * received in full. Called at most once, when the rest is written or the server has responded, and not at all when
   * the request fails before. A response is used only after it resolves. For requests that need a final permission;
   * uses a connection of its own.
   */
  readonly confirmBeforeLastByte?: () => Promise<void>;
  /** The time for DNS, connection, request including the confirmation, and response. */
  readonly timeoutMs: number;
  /** @default DEFAULT_MAX_RESPONSE_BYTES */
  readonly maxResponseBytes?: number;
  /**
   * Limits a response whose status is what matters. At most the first `maxBytes` of its body are read, and only those
   * that arrive within `bodyTimeoutMs` after the headers; then the connection is closed. `timeoutMs` ends with the headers.
   * A failure after them ends the body.
   */
  readonly excerpt?: { readonly maxBytes: number; readonly bodyTimeoutMs: number };
  /**
   * Reuses an idle connection to the same host and address. The server may close it at that moment and the request
   * may be lost: not for requests that must be sent exactly once. @default false
   */
  readonly keepAlive?: boolean;
  readonly signal?: AbortSignal;
}

interface GuardedResponse extends HttpResponse {
  readonly durationMs: number;
  /** The server's IP address. */
  readonly address: string;
}

type AddressedResponse = HttpResponse & Pick<GuardedResponse, 'address'>;

/**
 * An HTTP client for URLs that users configure. It reaches only addresses that the policy allows (SSRF protection).
 */
export interface GuardedHttpClient {
  /**
   * Sends one request once. Redirects are not followed.
   *
   * @throws {HttpClientError} No other errors.
   */
  request(request: GuardedRequest): Promise<GuardedResponse>;
  /** Aborts running requests and closes all connections. Idempotent. */
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
  /** Gets checked addresses only. @default TCP and TLS with Node's trusted certificates */
  readonly connect?: Connect;
}

/**
 * Resolves a name once per request, rejects it when any of its addresses is not allowed, and connects to the checked
 * address itself: a name cannot change its address between check and connection (DNS rebinding). TLS and the Host
 * header use the name. Clients with different policies share no connections.
 */
export function createGuardedHttpClient(deps: GuardedHttpClientDeps): GuardedHttpClient {
  const { policy, clock, userAgent, lookup = createDnsLookup(), connect = createConnect() } = deps;
  const connections = new Connections({ connect, clock });
  const running = new Set<Deadline>();
  let closing: Promise<void> | undefined;

  function send(
    { keepAlive = false, confirmBeforeLastByte }: GuardedRequest,
    outgoing: OutgoingRequest,
    to: SocketOptions,
  ) {
    if (confirmBeforeLastByte) {
      const { connect, release } = connections.leaseSocket(to);
      const exchanging = connect().then((socket) =>
        exchangeWithConfirmation(socket, outgoing, confirmBeforeLastByte),
      );
      return { release, response: exchanging };
    }
    const { dispatcher, release } = connections.lease({ ...to, origin: outgoing.url.origin, keepAlive });
    return { release, response: exchange(dispatcher, outgoing) };
  }

  async function perform(request: GuardedRequest, deadline: Deadline): Promise<AddressedResponse> {
    const { signal } = deadline;
    const { excerpt } = request;
    signal.throwIfAborted();
    const refused = checkTarget(request.url, policy) ?? checkHeaders(request.headers ?? []);
    if (refused) throw refused;
    const outgoing: OutgoingRequest = {
      ...outgoingOf(request, userAgent),
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
    return tryInTurn(addresses, async (address, isLast) => {
      const { release, response } = send(request, outgoing, {
        endpoint: endpointAt(address, outgoing.url),
        connectTimeoutMs: isLast ? request.timeoutMs : Math.min(ADDRESS_ATTEMPT_MS, request.timeoutMs),
      });
      try {
        return { ...(await unlessAborted(response, signal)), address };
      } finally {
        await release();
      }
    });
  }

  return {
    async request(request) {
      const startedMs = clock.monotonicMs();
      const deadline = startDeadline({ clock, timeoutMs: request.timeoutMs, signal: request.signal });
      running.add(deadline);
      if (closing) deadline.abort('the client is closed');
      try {
        const response = await perform(request, deadline);
        return { ...response, durationMs: clock.monotonicMs() - startedMs };
      } catch (error) {
        throw deadline.signal.aborted ? deadline.signal.reason : error;
      } finally {
        running.delete(deadline);
        deadline.end();
      }
    },
    close(reason = 'the client was closed') {
      for (const deadline of running) deadline.abort(reason);
      closing ??= connections.close();
      return closing;
    },
  };
}

function endpointAt(address: string, url: URL): Endpoint {
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  if (!isSecure) return { address, port };
  const host = bareHost(url.hostname);
  return { address, port, tls: isAddress(host) ? {} : { serverName: host } };
}

function withOwnHeaders(headers: readonly HeaderEntry[], userAgent: string): HeaderEntry[] {
  const given = new Set(headers.map(({ key }) => key.toLowerCase()));
  const own = [
    { key: 'user-agent', value: userAgent },
    { key: 'accept', value: '*/*' },
  ].filter(({ key }) => !given.has(key));
  return [...own, { key: 'accept-encoding', value: 'identity' }, ...headers];
}

/** Tries the next address only after `connect_failed`, when nothing was sent to the previous one. */
async function tryInTurn<Result>(
  [address = '', ...others]: readonly string[],
  attempt: (address: string, isLast: boolean) => Promise<Result>,
): Promise<Result> {
  try {
    return await attempt(address, others.length === 0);
  } catch (error) {
    const isUnsent = error instanceof HttpClientError && error.code === 'connect_failed';
    if (!isUnsent || others.length === 0) throw error;
    return tryInTurn(others, attempt);
  }
}

function outgoingOf(request: GuardedRequest, userAgent: string): Omit<OutgoingRequest, 'signal'> {
  return {
    url: new URL(request.url),
    method: request.method,
    headers: withOwnHeaders(request.headers ?? [], userAgent),
    body: request.body,
    maxResponseBytes: request.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
  };
}
