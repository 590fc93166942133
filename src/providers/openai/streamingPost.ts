import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

import { ByteQueue, type ByteStream } from './byteStream.ts';

/** What is posted. */
export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A response whose body may still be on its way. */
export interface StreamedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: ByteStream;
}

/**
 * Posts straight over a dispatcher, so that a token passes no web stream on its way, and asks for bytes that are not
 * packed.
 *
 * @param signal - Aborts the request, also in the middle of its answer: a pending read then rejects with its reason.
 * @returns The answer of whatever status, once its head is there. Its body is to be read to its end, or canceled.
 * @throws What kept the head from coming, or the signal's reason.
 */
export function postStreaming(
  dispatcher: Dispatcher,
  { url, headers, body: text }: Post,
  signal: AbortSignal,
): Promise<StreamedAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    let controller: Dispatcher.DispatchController | undefined;
    let body: ByteQueue | undefined;
    const abort = () => {
      reject(signal.reason);
      body?.fail(signal.reason);
      controller?.abort(signal.reason);
    };
    const unlink = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    const request: Dispatcher.DispatchOptions = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: { ...headers, 'accept-encoding': 'identity' },
      body: text,
    };
    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        if (signal.aborted) started.abort(signal.reason);
      },
      onResponseStart(started, status, responseHeaders) {
        // What is below is a word in between, not the answer.
        if (status < 200) return;
        body = new ByteQueue(started);
        resolve({ status, headers: responseHeaders, body });
      },
      onResponseData: (_controller, bytes) => body?.push(bytes),
      onResponseEnd() {
        unlink();
        body?.finish();
      },
      onResponseError(_controller, error) {
        unlink();
        reject(error);
        body?.fail(error);
      },
    });
  });
}

/** The body as text, no more than its beginning; the rest is not waited for. */
export async function beginningOf(body: ByteStream, mostBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let lengthBytes = 0;
  for (let piece = await body.read(); piece; piece = await body.read()) {
    pieces.push(piece);
    lengthBytes += piece.length;
    if (lengthBytes <= mostBytes) continue;
    body.cancel();
    break;
  }
  return Buffer.concat(pieces).subarray(0, mostBytes).toString('utf8');
}
