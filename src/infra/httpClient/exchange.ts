import { type Dispatcher, errors } from 'undici';
import { EgressError } from './errors.ts';
import type { HeaderEntry } from './headers.ts';
import {
  type Answer,
  type AnswerLimits,
  connectionLost,
  headersTooLong,
  notHttp,
  readAnswer,
} from './response.ts';

export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** What is sent; headers and URL are already checked. */
export interface Outgoing extends AnswerLimits {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly headers: readonly HeaderEntry[];
  readonly body: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and reads its answer, following nothing and decoding nothing.
 *
 * @throws {EgressError} `response_too_large`, `response_invalid`, `connection_lost`, or what the connector threw.
 *   Once `signal` is aborted, anything may be thrown.
 */
export async function exchange(dispatcher: Dispatcher, outgoing: Outgoing): Promise<Answer> {
  const { url, method, headers, body, signal } = outgoing;
  try {
    const answer = await dispatcher.request({
      path: `${url.pathname}${url.search}`,
      method,
      headers: headers.flatMap(({ key, value }) => [key, value]),
      body: body ?? null,
      signal,
    });
    return await readAnswer(answer, outgoing);
  } catch (error) {
    throw asEgressError(error, url.hostname);
  }
}

function asEgressError(error: unknown, host: string): EgressError {
  if (error instanceof EgressError) return error;
  if (error instanceof errors.HeadersOverflowError) return headersTooLong(host, error);
  const isMalformed =
    error instanceof errors.HTTPParserError || error instanceof errors.ResponseContentLengthMismatchError;
  return isMalformed ? notHttp(host, error) : connectionLost(host, error);
}
