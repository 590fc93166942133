import type { Readable } from 'node:stream';
import { HttpClientError } from './errors.ts';

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; a header that came several times has its values joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it came over the wire, never decompressed. */
  readonly body: Uint8Array;
}

/** An answer whose headers are here. */
export interface StreamingResponse {
  readonly statusCode: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Readable;
}

export interface ResponseLimits {
  /** False lets go of the body, and of the connection with it. */
  readonly readBody: boolean;
  readonly maxResponseBytes: number;
}

/** @throws {HttpClientError} `response_too_large`; and what the body's stream throws. */
export async function readResponse(answer: StreamingResponse, limits: ResponseLimits): Promise<HttpResponse> {
  // The loop that reads it reports its errors; this one only keeps a late one from having no listener.
  answer.body.on('error', () => undefined);
  const body = limits.readBody ? await readWithin(answer, limits.maxResponseBytes) : discard(answer);
  return { status: answer.statusCode, headers: joined(answer.headers), body };
}

export function headersTooLong(host: string, cause: unknown): HttpClientError {
  return new HttpClientError('response_too_large', `the response headers of ${host} are too long`, cause);
}

export function notHttp(host: string, cause: unknown): HttpClientError {
  return new HttpClientError('response_invalid', `${host} did not answer in valid HTTP`, cause);
}

export function connectionLost(host: string, cause: unknown): HttpClientError {
  const message = `${host} closed the connection before its answer was complete`;
  return new HttpClientError('connection_lost', message, cause);
}

async function readWithin({ headers, body }: StreamingResponse, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(headers['content-length'] ?? 0);
  const chunks: Uint8Array[] = [];
  let lengthBytes = 0;
  if (announced <= maxBytes) {
    for await (const chunk of body) {
      lengthBytes += chunk.length;
      if (lengthBytes > maxBytes) break;
      chunks.push(chunk);
    }
  }
  if (announced > maxBytes || lengthBytes > maxBytes) {
    body.destroy();
    throw new HttpClientError('response_too_large', `the response is longer than ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks);
}

function discard({ body }: StreamingResponse): Uint8Array {
  body.destroy();
  return new Uint8Array();
}

function joined(headers: StreamingResponse['headers']): Record<string, string> {
  const pairs = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]);
  return Object.fromEntries(pairs);
}
