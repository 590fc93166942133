import type { Clock } from '../../base/clock.ts';
import { bareHost } from './address.ts';
import { exchangeWithConfirmation } from './confirmedExchange.ts';
import { type Connect, createConnect, type Endpoint } from './connect.ts';
import { createConnections, type SocketOptions } from './connections.ts';
import { type Deadline, startDeadline, unlessAborted } from './deadline.ts';
import { HttpClientError } from './errors.ts';
import { exchange, type HttpMethod, type OutgoingRequest } from './exchange.ts';
import { checkHeaders, type HeaderEntry } from './headers.ts';
import { createDnsLookup, type Lookup } from './lookup.ts';
import { isAddress, resolveTarget } from './resolveTarget.ts';
import type { HttpResponse } from './response.ts';
import { checkTarget, type TargetPolicy } from './target.ts';

/** How long one of several addresses may take to connect before the next one is tried; the last has the time left. */
const ADDRESS_ATTEMPT_MS = 3_000;
/** Enough for any tool's answer that a model could still make use of. */
export const DEFAULT_MAX_RESPONSE_BYTES = 1_048_576;

export interface GuardedRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers?: readonly HeaderEntry[];
  readonly body?: string | Uint8Array;
  /**
   * Holds back the body's last byte until it resolves; where it rejects, the request is torn down as `aborted`, and was
   * never whole. Called at most once, when the rest is written or the server has answered already, and not at all in a
   * request that fails before. An answer counts only after it. For what must not be sent without leave; over a connection
   * of its own always.
   */
  readonly confirmBeforeLastByte?: () => Promise<void>;
  /** For all of it: resolver, connection, request with the wait for leave, and the answer's last byte. */
  readonly timeoutMs: number;
  /** @default DEFAULT_MAX_RESPONSE_BYTES */
  readonly maxResponseBytes?: number;
  /** False when only the status counts: resolves at the answer's headers and reads no further. @default true */
  readonly readBody?: boolean;
  /**
   * Takes an idle connection to the same host at the same address where there is one. Faster, but the server may be
   * closing it just then and the request be lost: not for what is sent only once. @default false
   */
  readonly keepAlive?: boolean;
  readonly signal?: AbortSignal;
}

export interface GuardedResponse extends HttpResponse {
  readonly durationMs: number;
  /** The IP address that answered. */
  readonly address: string;
}

type AddressedAnswer = HttpResponse & Pick<GuardedResponse, 'address'>;

/** An HTTP client for addresses that users name, which reaches nothing but what the policy allows. */
export interface GuardedHttpClient {
  /**
   * Sends one request, once. A redirect is an answer like any other.
   *
   * @throws {HttpClientError} And nothing else.
   */
  request(request: GuardedRequest): Promise<GuardedResponse>;
  /** Aborts what is under way and closes every connection. Idempotent. */
  close(reason?: string): Promise<void>;
}

export interface GuardedHttpClientDeps {
  readonly policy: TargetPolicy;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Its answers are judged, every one of them, before any is used. @default name servers of the system */
  readonly lookup?: Lookup;
  /** Is given only addresses that were judged. @default TCP and TLS with Node's trusted certificates */
  readonly dial?: Connect;
}

/**
 * A guarded client resolves a name once per request, refuses it when any of its addresses is refused, and dials the
 * addresses themselves: between check and connection no name is left that could be given another meaning. TLS and
 * the Host header keep the name. Connections are never shared between clients, and so not between policies.
 */
export function createGuardedHttpClient(deps: GuardedHttpClientDeps): GuardedHttpClient {
  const { policy, clock, userAgent, lookup = createDnsLookup(), dial = createConnect() } = deps;
  const connections = createConnections({ dial, clock });
  const running = new Set<Deadline>();
  let closing: Promise<void> | undefined;

  function send(
    { keepAlive = false, confirmBeforeLastByte: beforeLastByte }: GuardedRequest,
    outgoing: OutgoingRequest,
    to: SocketOptions,
  ) {
    if (beforeLastByte) {
      const { connect, release } = connections.leaseSocket(to);
      return {
        release,
        answer: connect().then((socket) => exchangeWithConfirmation(socket, outgoing, beforeLastByte)),
      };
    }
    const { dispatcher, release } = connections.lease({ ...to, origin: outgoing.url.origin, keepAlive });
    return { release, answer: exchange(dispatcher, outgoing) };
  }

  async function perform(request: GuardedRequest, signal: AbortSignal): Promise<AddressedAnswer> {
    signal.throwIfAborted();
    const refused = checkTarget(request.url, policy) ?? checkHeaders(request.headers ?? []);
    if (refused) throw refused;
    const outgoing = outgoingOf(request, userAgent, signal);
    const addresses = await resolveTarget(outgoing.url, { lookup, policy }, signal);
    return tryInTurn(addresses, async (address, isLast) => {
      const { release, answer } = send(request, outgoing, {
        endpoint: endpointAt(address, outgoing.url),
        connectTimeoutMs: isLast ? request.timeoutMs : Math.min(ADDRESS_ATTEMPT_MS, request.timeoutMs),
      });
      try {
        return { ...(await unlessAborted(answer, signal)), address };
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
        const answer = await perform(request, deadline.signal);
        return { ...answer, durationMs: clock.monotonicMs() - startedMs };
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

/**
 * The answer's body as text.
 *
 * @throws {HttpClientError} `response_encoded` when it is compressed although no compression was asked for: unpacking
 *   would let a small answer fill the memory.
 */
export function responseText({ headers, body }: Pick<HttpResponse, 'headers' | 'body'>): string {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new HttpClientError(
      'response_encoded',
      `the response is encoded as ${encoding}; it must come as it is`,
    );
  }
  return new TextDecoder().decode(body);
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

/** Tries the next address only after `connect_failed`, when it is certain that nothing was sent to the last one. */
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

function outgoingOf(request: GuardedRequest, userAgent: string, signal: AbortSignal): OutgoingRequest {
  return {
    url: new URL(request.url),
    method: request.method,
    headers: withOwnHeaders(request.headers ?? [], userAgent),
    body: request.body,
    readBody: request.readBody ?? true,
    maxResponseBytes: request.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
    signal,
  };
}
