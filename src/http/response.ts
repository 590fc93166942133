import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Timer } from '../base/values/clock.ts';
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

/**
 * Reads a response within its limits. Where the beginning is enough, the body never fails: it ends where it breaks off.
 *
 * @throws {HttpClientError} `response_too_large`; and errors of the body stream.
 */
export async function readResponse(
  { statusCode, headers, body }: StreamingResponse,
  { maxResponseBytes, excerpt }: ResponseLimits,
): Promise<HttpResponse> {
  // The loop below reports errors; this listener handles errors after it.
  body.on('error', () => undefined);
  const isWhole = !excerpt && statusCode < 400;
  const maxBytes =
    excerpt?.maxBytes ?? (isWhole ? maxResponseBytes : Math.min(maxResponseBytes, MAX_ERROR_BYTES));
  const announced = isWhole ? Number(headers['content-length'] ?? 0) : 0;
  const timer = excerpt?.startTimer(() => body.destroy());
  try {
    const bytes = announced > maxBytes ? undefined : await readChunks(body, maxBytes, isWhole);
    if (!bytes || (isWhole && bytes.length > maxBytes))
      throw new HttpClientError('response_too_large', `the response is longer than ${maxBytes} bytes`);
    return { status: statusCode, headers: joined(headers), body: bytes.subarray(0, maxBytes) };
  } finally {
    timer?.cancel();
    body.destroy();
  }
}

/** Reads until there are more than `maxBytes`; where the beginning is enough, until there are as many. */
async function readChunks(body: Readable, maxBytes: number, isWhole: boolean): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let leftBytes = isWhole ? maxBytes + 1 : maxBytes;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      leftBytes -= chunk.length;
      if (leftBytes <= 0) break;
    }
  } catch (error) {
    if (isWhole) throw error;
  }
  return Buffer.concat(chunks);
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

function joined(headers: StreamingResponse['headers']): Record<string, string> {
  const pairs = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]);
  return Object.fromEntries(pairs);
}

/** The largest body of a response with a status of 400 or above; no error message is longer. */
export const MAX_ERROR_BYTES = 65_536;
/** The largest body that is read as a whole. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;
/** The largest stream: hours of text, or ten minutes of speech. */
const MAX_STREAM_BYTES = 32 * 1024 * 1024;

const STREAMED_TYPE = /^(?:text\/event-stream|audio\/|application\/octet-stream)/i;

/**
 * Limits a response's body. An error's body is cut at its limit, since its status counts; any other body fails there.
 * Bytes are counted as they arrive, after decompression, and the connection is closed at the limit.
 *
 * @param tooLong - The error that a longer body fails with.
 */
export function boundedResponse(response: Response, tooLong: (maxBytes: number) => Error): Response {
  const { status, headers } = response;
  const body = response.body as ReadableStream<Uint8Array> | null;
  if (!body) return response;
  const init = { status, headers: [...headers] };
  if (status >= 400) return new Response(boundedBody(body, MAX_ERROR_BYTES), init);
  const isStream = STREAMED_TYPE.test(headers.get('content-type') ?? '');
  const maxBytes = isStream ? MAX_STREAM_BYTES : MAX_DOCUMENT_BYTES;
  return new Response(boundedBody(body, maxBytes, tooLong(maxBytes)), init);
}

/** @param tooLong - The error that a longer body fails with. Default: it ends at the bound. */
export function boundedBody(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  tooLong?: Error,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let leftBytes = maxBytes;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (value.length <= leftBytes) {
          leftBytes -= value.length;
          return controller.enqueue(value);
        }
        await reader.cancel().catch(() => {}); // the connection is given up
        if (tooLong) return controller.error(tooLong);
        if (leftBytes > 0) controller.enqueue(value.subarray(0, leftBytes));
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The largest decompressed body; no model can use a larger tool result. */
const MAX_TEXT_BYTES = 1_048_576;
/** Each costs the time of the whole body. */
const MAX_ENCODINGS = 3;
const XML_ENCODING = /^<\?xml[^>]{0,200}\bencoding\s*=\s*["']([\w.:-]{1,40})["']/;

/**
 * The response body as text: decompressed, and decoded by its charset.
 *
 * @throws {HttpClientError} `response_encoded` when it is compressed in an unknown way or too often, or is damaged;
 *   `response_too_large` when it is longer than 1 MiB.
 * @see RFC 9110 section 8.4
 */
export function responseText({ headers, body }: Pick<HttpResponse, 'headers' | 'body'>): string {
  const encodings = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length > MAX_ENCODINGS)
    throw new HttpClientError('response_encoded', `the response is encoded ${encodings.length} times`);
  const bytes = encodings.reduceRight<Uint8Array>(decompressed, body);
  return decoded(bytes, headers['content-type'] ?? '');
}

/** A body that was cut is read as far as it goes. */
function decompressed(bytes: Uint8Array, encoding: string): Uint8Array {
  const limit = { maxOutputLength: MAX_TEXT_BYTES };
  const zlib = { ...limit, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    switch (encoding) {
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(bytes, zlib);
      case 'deflate':
        // Some servers send it without the zlib header (RFC 1950).
        return (bytes[0] ?? 0) % 16 === 8 ? inflateSync(bytes, zlib) : inflateRawSync(bytes, zlib);
      case 'br':
        return brotliDecompressSync(bytes, { ...limit, finishFlush: constants.BROTLI_OPERATION_FLUSH });
    }
  } catch (error) {
    if (error instanceof RangeError)
      throw new HttpClientError('response_too_large', `the response is longer than ${MAX_TEXT_BYTES} bytes`);
    throw new HttpClientError('response_encoded', `the response is no valid ${encoding}`, error);
  }
  const message = `the response is encoded as ${encoding}; gzip, deflate and br can be read`;
  throw new HttpClientError('response_encoded', message);
}

/**
 * Decodes text by its byte order mark, its header, or its XML declaration; else as UTF-8, or as Windows-1252 when it is
 * not valid UTF-8.
 */
function decoded(bytes: Uint8Array, contentType: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  const inHeader = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
  const declared = inHeader ?? XML_ENCODING.exec(Buffer.from(bytes.subarray(0, 300)).toString('latin1'))?.[1];
  const usual = isUtf8(bytes) ? 'utf-8' : 'windows-1252';
  try {
    return new TextDecoder(declared ?? usual).decode(bytes);
  } catch {
    return new TextDecoder(usual).decode(bytes);
  }
}
