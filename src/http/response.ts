import type { Readable } from 'node:stream';
import type { Timer } from '../base/values/clock.ts';
import { MAX_ERROR_BYTES } from './bounds.ts';
import { HttpClientError } from './errors.ts';

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; values of a repeated header are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as received, never decompressed. */
  readonly body: Uint8Array;
}

/** A response with its headers and an unread body. */
export interface StreamingResponse {
  readonly statusCode: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Readable;
}

export interface ResponseLimits {
  /** A longer body fails; that of a status of 400 or above is cut at {@link MAX_ERROR_BYTES} at the latest. */
  readonly maxResponseBytes: number;
  /** Reads only the beginning of the body. */
  readonly excerpt?:
    | {
        readonly maxBytes: number;
        /** Called with the headers; `stop` ends the reading when its time is over. */
        readonly startTimer: (stop: () => void) => Timer;
      }
    | undefined;
}

/** @throws {HttpClientError} `response_too_large`; and errors of the body stream. */
export async function readResponse(
  response: StreamingResponse,
  limits: ResponseLimits,
): Promise<HttpResponse> {
  // The loop below reports errors; this listener handles errors after it.
  response.body.on('error', () => undefined);
  const { maxResponseBytes, excerpt } = limits;
  const body =
    excerpt || response.statusCode >= 400
      ? await readBeginning(
          response.body,
          excerpt ?? { maxBytes: Math.min(maxResponseBytes, MAX_ERROR_BYTES) },
        )
      : await readAtMost(response, maxResponseBytes);
  return { status: response.statusCode, headers: joined(response.headers), body };
}

export function headersTooLong(host: string, cause: unknown): HttpClientError {
  return new HttpClientError('response_too_large', `the response headers of ${host} are too long`, cause);
}

export function notHttp(host: string, cause: unknown): HttpClientError {
  return new HttpClientError('response_invalid', `${host} did not respond with valid HTTP`, cause);
}

export function connectionLost(host: string, cause: unknown): HttpClientError {
  const message = `${host} closed the connection before its response was complete`;
  return new HttpClientError('connection_lost', message, cause);
}

async function readAtMost({ headers, body }: StreamingResponse, maxBytes: number): Promise<Uint8Array> {
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

/** Reads the beginning of a body. It never fails: a body that breaks off or is late ends there. */
async function readBeginning(
  body: Readable,
  { maxBytes, startTimer }: { maxBytes: number; startTimer?: (stop: () => void) => Timer },
): Promise<Uint8Array> {
  const timer = startTimer?.(() => body.destroy());
  const chunks: Uint8Array[] = [];
  let lengthBytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      lengthBytes += chunk.length;
      if (lengthBytes >= maxBytes) break;
    }
  } catch {
    // What came before counts.
  } finally {
    timer?.cancel();
    body.destroy();
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

function joined(headers: StreamingResponse['headers']): Record<string, string> {
  const pairs = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]);
  return Object.fromEntries(pairs);
}
