import { type Dispatcher, errors } from 'undici';
import { EgressError } from './errors.ts';
import type { HeaderEntry } from './headers.ts';

export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** What is sent; headers and URL are already checked. */
export interface Outgoing {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly headers: readonly HeaderEntry[];
  readonly body: string | Uint8Array | undefined;
  readonly readBody: boolean;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case; a header that came several times has its values joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it came over the wire, never decompressed. */
  readonly body: Uint8Array;
}

/**
 * Sends one request and reads its answer, following nothing and decoding nothing.
 *
 * @throws {EgressError} `response_too_large`, `response_invalid`, `connection_lost`, or what the connector threw.
 *   Once `signal` is aborted, anything may be thrown.
 */
export async function exchange(dispatcher: Dispatcher, outgoing: Outgoing): Promise<Answer> {
  const { url, method, headers, body, signal, readBody, maxResponseBytes } = outgoing;
  try {
    const answer = await dispatcher.request({
      path: `${url.pathname}${url.search}`,
      method,
      headers: headers.flatMap(({ key, value }) => [key, value]),
      body: body ?? null,
      signal,
    });
    // The loop that reads it reports its errors; this one only keeps a late one from having no listener.
    answer.body.on('error', () => undefined);
    const content = readBody ? await readWithin(answer, maxResponseBytes) : discard(answer);
    return { status: answer.statusCode, headers: joined(answer.headers), body: content };
  } catch (error) {
    throw asEgressError(error, url.hostname);
  }
}

async function readWithin(answer: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(answer.headers['content-length'] ?? 0);
  const chunks: Uint8Array[] = [];
  let lengthBytes = 0;
  if (announced <= maxBytes) {
    for await (const chunk of answer.body) {
      lengthBytes += chunk.length;
      if (lengthBytes > maxBytes) break;
      chunks.push(chunk);
    }
  }
  if (announced > maxBytes || lengthBytes > maxBytes) {
    answer.body.destroy();
    throw new EgressError('response_too_large', `the response is longer than ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks);
}

function discard(answer: Dispatcher.ResponseData): Uint8Array {
  answer.body.destroy();
  return new Uint8Array();
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const pairs = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]);
  return Object.fromEntries(pairs);
}

function asEgressError(error: unknown, host: string): EgressError {
  if (error instanceof EgressError) return error;
  if (error instanceof errors.HeadersOverflowError) {
    return new EgressError('response_too_large', `the response headers of ${host} are too long`, error);
  }
  const isMalformed =
    error instanceof errors.HTTPParserError || error instanceof errors.ResponseContentLengthMismatchError;
  if (isMalformed) return new EgressError('response_invalid', `${host} did not answer in valid HTTP`, error);
  return new EgressError(
    'connection_lost',
    `${host} closed the connection before its answer was complete`,
    error,
  );
}
