import { ReadableStream } from 'node:stream/web';

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
