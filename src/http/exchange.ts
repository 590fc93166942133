import { type buildConnector, Client, errors } from 'undici';
import { bareHost } from './address.ts';
import { HttpClientError } from './errors.ts';
import type { HeaderEntry } from './headers.ts';
import { answering, isAddress } from './lookup.ts';
import { type BuildConnector, pacedConnector } from './pacedSocket.ts';
import {
  connectionLost,
  type HttpResponse,
  headersTooLong,
  notHttp,
  type ResponseLimits,
  readResponse,
} from './response.ts';

/** Connect timeout for each address but the last, which gets the remaining time. */
const ADDRESS_ATTEMPT_MS = 3_000;
const MAX_RESPONSE_HEADER_BYTES = 16_384;

export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** A request whose headers and URL are checked. */
export interface OutgoingRequest extends ResponseLimits {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly headers: readonly HeaderEntry[];
  readonly body: string | Uint8Array | undefined;
  /** Its abortion also destroys the socket, whether it is open or connecting. */
  readonly signal: AbortSignal;
}

/**
 * Creates a connector to checked addresses, which are tried in turn until TCP connects. The certificate is verified for
 * the URL's name, or for its address.
 *
 * @returns A connector that fails with `connect_failed` before TCP is connected, and with `tls_failed` afterwards.
 */
export function createConnector(
  { url, signal }: OutgoingRequest,
  addresses: readonly string[],
  build?: BuildConnector,
): buildConnector.connector {
  const host = bareHost(url.hostname);
  const options = {
    lookup: answering(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    timeout: 0,
    signal,
    ...(isAddress(host) ? {} : { servername: host }),
  };
  const connect = pacedConnector(options, build);
  return (target, callback) =>
    connect({ ...target, servername: undefined }, (...[cause, socket]) => {
      if (cause) callback(connectionFailure(url, cause), null);
      else callback(null, socket);
    });
}

/**
 * Sends one request on a connection of its own and reads its response. Follows no redirect and decodes nothing.
 *
 * @throws {HttpClientError} `response_too_large`, `response_invalid`, `connection_lost`, or the connector's error.
 *   After `signal` is aborted any error may be thrown.
 */
export async function exchange(
  connect: buildConnector.connector,
  outgoing: OutgoingRequest,
): Promise<HttpResponse> {
  const { url, method, headers, body, signal } = outgoing;
  const limits = { maxHeaderSize: MAX_RESPONSE_HEADER_BYTES, headersTimeout: 0, bodyTimeout: 0 };
  const client = new Client(url.origin, { ...limits, connect, pipelining: 0 });
  try {
    const response = await client.request({
      path: `${url.pathname}${url.search}`,
      method,
      headers: headers.flatMap(({ key, value }) => [key, value]),
      body: body ?? null,
      signal,
    });
    return await readResponse(response, outgoing);
  } catch (error) {
    throw toHttpClientError(error, url.hostname);
  } finally {
    await client.destroy();
  }
}

function connectionFailure({ hostname, protocol }: URL, cause: Error): HttpClientError {
  const reason = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
  const isUnreached = cause instanceof AggregateError || ('syscall' in cause && cause.syscall === 'connect');
  return isUnreached || protocol === 'http:'
    ? new HttpClientError('connect_failed', `no connection to ${hostname}: ${reason}`, cause)
    : new HttpClientError('tls_failed', `no trusted TLS connection to ${hostname}: ${reason}`, cause);
}

function toHttpClientError(error: unknown, host: string): HttpClientError {
  if (error instanceof HttpClientError) return error;
  if (error instanceof errors.HeadersOverflowError) return headersTooLong(host, error);
  const isMalformed =
    error instanceof errors.HTTPParserError || error instanceof errors.ResponseContentLengthMismatchError;
  return isMalformed ? notHttp(host, error) : connectionLost(host, error);
}
