import { type Dispatcher, errors } from 'undici';
import { HttpClientError } from './errors.ts';
import type { HeaderEntry } from './headers.ts';
import {
  connectionLost,
  type HttpResponse,
  headersTooLong,
  notHttp,
  type ResponseLimits,
  readResponse,
} from './response.ts';

export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** A request whose headers and URL are checked. */
export interface OutgoingRequest extends ResponseLimits {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly headers: readonly HeaderEntry[];
  readonly body: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and reads its response. Follows no redirect and decodes nothing.
 *
 * @throws {HttpClientError} `response_too_large`, `response_invalid`, `connection_lost`, or the connector's error.
 *   After `signal` is aborted any error may be thrown.
 */
export async function exchange(dispatcher: Dispatcher, outgoing: OutgoingRequest): Promise<HttpResponse> {
  const { url, method, headers, body, signal } = outgoing;
  try {
    const response = await dispatcher.request({
      path: `${url.pathname}${url.search}`,
      method,
      headers: headers.flatMap(({ key, value }) => [key, value]),
      body: body ?? null,
      signal,
    });
    return await readResponse(response, outgoing);
  } catch (error) {
    throw toHttpClientError(error, url.hostname);
  }
}

function toHttpClientError(error: unknown, host: string): HttpClientError {
  if (error instanceof HttpClientError) return error;
  if (error instanceof errors.HeadersOverflowError) return headersTooLong(host, error);
  const isMalformed =
    error instanceof errors.HTTPParserError || error instanceof errors.ResponseContentLengthMismatchError;
  return isMalformed ? notHttp(host, error) : connectionLost(host, error);
}
