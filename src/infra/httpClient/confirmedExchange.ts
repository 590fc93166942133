import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { MAX_RESPONSE_HEADER_BYTES } from './connections.ts';
import { HttpClientError } from './errors.ts';
import type { OutgoingRequest } from './exchange.ts';
import { connectionLost, type HttpResponse, headersTooLong, notHttp, readResponse } from './response.ts';

/**
 * Sends one request over a connection of its own, but for its body's last byte, which waits for leave. No server can take
 * a body for whole that is shorter than its Content-Length, so that until then closing the connection takes the request
 * back. A request without a body is held back from its first byte on.
 *
 * A server may answer first, and read the rest afterwards: its answer counts once leave has come, and the last byte is
 * sent to it all the same. That is why Node's own client does it: undici closes a connection whose answer is complete
 * before its request is.
 *
 * @param socket - Just opened; its owner closes it, whatever came of the request.
 * @param beforeLastByte - Asked once, when the rest was handed to the system or the server has answered already; not at
 *   all where the request is over before.
 * @throws {HttpClientError} As {@link exchange}; and `aborted` where `beforeLastByte` rejects.
 */
export async function exchangeWithConfirmation(
  socket: Socket,
  outgoing: OutgoingRequest,
  beforeLastByte: () => Promise<void>,
): Promise<HttpResponse> {
  const body = Buffer.from(outgoing.body ?? '');
  const request = openRequest(socket, outgoing, body.length);
  try {
    const answered = answerTo(request);
    answered.catch(() => {}); // thrown where it is waited for
    if (body.length > 1) await Promise.race([writtenTo(request, body.subarray(0, -1)), answered]);
    const leave = askFor(beforeLastByte);
    // A connection that is lost meanwhile ends the wait; an answer does not.
    await Promise.race([leave, answered.then(() => leave)]);
    outgoing.signal.throwIfAborted();
    request.end(body.subarray(-1));
    // Should the answer have been here first, the connection is not closed before the byte is out.
    const [response] = await Promise.all([answered, nextTurn()]);
    const { statusCode = 0, headersDistinct } = response;
    return await readResponse({ statusCode, headers: headersDistinct, body: response }, outgoing);
  } catch (error) {
    throw asEgressError(error, outgoing.url.hostname);
  }
}

function openRequest(
  socket: Socket,
  { url, method, headers }: OutgoingRequest,
  lengthBytes: number,
): ClientRequest {
  const hasPayload = lengthBytes > 0 || (method !== 'GET' && method !== 'HEAD');
  const framing = [
    { key: 'host', value: url.host },
    // A server that is told to close, and answers first, may close before the last byte has come.
    { key: 'connection', value: 'keep-alive' },
    ...(hasPayload ? [{ key: 'content-length', value: String(lengthBytes) }] : []),
  ];
  return httpRequest({
    createConnection: () => socket,
    method,
    path: `${url.pathname}${url.search}`,
    headers: [...framing, ...headers].flatMap(({ key, value }) => [key, value]),
    maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
  });
}

function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // It stays, for what fails once the answer is here.
    request.on('error', reject);
    request.once('close', () => reject(new Error('closed')));
  });
}

/** Resolves once the system has taken all of it. Where it does not, the request has failed, which is told elsewhere. */
function writtenTo(request: ClientRequest, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    request.write(bytes, (error) => {
      if (!error) resolve();
    });
  });
}

async function askFor(leave: () => Promise<void>): Promise<void> {
  try {
    await leave();
  } catch (cause) {
    throw new HttpClientError('aborted', 'the request was taken back before its last byte', cause);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function asEgressError(error: unknown, host: string): HttpClientError {
  if (error instanceof HttpClientError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLong(host, error);
  return code.startsWith('HPE_') ? notHttp(host, error) : connectionLost(host, error);
}
