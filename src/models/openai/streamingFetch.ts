import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

import { ByteQueue, type ByteStream } from './byteStream.ts';

/** An endpoint's words about a failure; more than this is no message. */
const LONGEST_FAILURE_BYTES = 65_536;

/** A fetch for the SDK, and the bodies of what it got. */
export interface StreamingFetch {
  /**
   * Takes what the SDK gives a fetch. The response of a success has no body; its bytes are given by {@link bytesOf}.
   * Any other response has its body, cut at 64 KiB.
   */
  readonly fetch: typeof fetch;
  /** @throws {TypeError} When the response is not of a success of this fetch. */
  bytesOf(response: Response): ByteStream;
}

/** Sends requests straight over a dispatcher, so that a token passes no web stream on its way. */
export function createStreamingFetch(dispatcher: Dispatcher): StreamingFetch {
  const bodies = new WeakMap<Response, ByteStream>();
  return {
    async fetch(input, init) {
      const { status, headers, body } = await send(dispatcher, new URL(String(input)), init ?? {});
      if (status < 200 || status > 299) return new Response(await failureText(body), { status, headers });
      const response = new Response(null, { status, headers });
      bodies.set(response, body);
      return response;
    },
    bytesOf(response) {
      const body = bodies.get(response);
      if (!body) throw new TypeError('the response has no bytes to be read');
      return body;
    },
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ByteStream;
}

/** Resolves with the response's head. @throws What kept it from coming, or the signal's reason. */
function send(dispatcher: Dispatcher, url: URL, init: RequestInit): Promise<Answer> {
  const signal = init.signal ?? undefined;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let controller: Dispatcher.DispatchController | undefined;
    let body: ByteQueue | undefined;
    const abort = () => {
      reject(signal?.reason);
      body?.fail(signal?.reason);
      controller?.abort(signal?.reason);
    };
    const unlink = () => signal?.removeEventListener('abort', abort);
    signal?.addEventListener('abort', abort, { once: true });
    const request: Dispatcher.DispatchOptions = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
      headers: { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' },
      body: typeof init.body === 'string' ? init.body : null,
    };
    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started;
        if (signal?.aborted) started.abort(signal.reason);
      },
      onResponseStart(started, status, headers) {
        // What is below is a word in between, not the answer.
        if (status < 200) return;
        body = new ByteQueue(started);
        resolve({ status, headers: toHeaders(headers), body });
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

function toHeaders(wire: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(wire)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) headers.append(name, one);
  }
  return headers;
}

async function failureText(body: ByteStream): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let lengthBytes = 0;
  for (let piece = await body.read(); piece; piece = await body.read()) {
    pieces.push(piece);
    lengthBytes += piece.length;
    if (lengthBytes <= LONGEST_FAILURE_BYTES) continue;
    body.cancel();
    break;
  }
  return Buffer.concat(pieces).subarray(0, LONGEST_FAILURE_BYTES);
}
