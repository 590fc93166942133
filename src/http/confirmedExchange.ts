import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { HttpClientError } from './errors.ts';
import { MAX_RESPONSE_HEADER_BYTES, type OutgoingRequest } from './exchange.ts';
import { connectionLost, type HttpResponse, headersTooLong, notHttp, readResponse } from './response.ts';

/**
 * Sends one request on a connection of its own and holds back the last byte of its body for a confirmation. A server
 * cannot accept a body that is shorter than its Content-Length, so closing the connection before the last byte
 * withdraws the request. A request without a body is held back completely.
 *
 * A server may respond early and read the rest later. Its response is used after the confirmation, and the last byte
 * is still sent. Node's own client supports that; undici closes a connection whose response ends before its request.
 *
 * @param socket - Newly opened; its owner closes it.
 * @param confirmBeforeLastByte - Called once, when the system has the rest of the request or the server has
 *   responded; not called after an earlier failure of the request.
 * @throws {HttpClientError} The errors of {@link exchange}, and `aborted` when `confirmBeforeLastByte` rejects.
 */
export async function exchangeWithConfirmation(
  socket: Socket,
  outgoing: OutgoingRequest,
  confirmBeforeLastByte: () => Promise<void>,
): Promise<HttpResponse> {
  const body = Buffer.from(outgoing.body ?? '');
  const request = openRequest(socket, outgoing, body.length);
  try {
    const response = responseTo(request);
    response.catch(() => {}); // handled where it is awaited
    if (body.length > 1) await Promise.race([writtenTo(request, body.subarray(0, -1)), response]);
    const confirmed = confirm(confirmBeforeLastByte);
    // A lost connection ends the wait; a response does not.
    await Promise.race([confirmed, response.then(() => confirmed)]);
    outgoing.signal.throwIfAborted();
    request.end(body.subarray(-1));
    // When the response is already here, the byte must be written before the connection is closed.
    const [incoming] = await Promise.all([response, nextTurn()]);
    const { statusCode = 0, headersDistinct } = incoming;
    return await readResponse({ statusCode, headers: headersDistinct, body: incoming }, outgoing);
  } catch (error) {
    throw toHttpClientError(error, outgoing.url.hostname);
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
    // With `connection: close` a server that responds early may close before the last byte arrives.
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

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // The listener stays for errors after the response.
    request.on('error', reject);
    request.once('close', () => reject(new Error('closed')));
  });
}

/**
 * Resolves when the system has accepted all bytes. On an error the request fails, which is reported by the request.
 */
function writtenTo(request: ClientRequest, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    request.write(bytes, (error) => {
      if (!error) resolve();
    });
  });
}

async function confirm(confirmBeforeLastByte: () => Promise<void>): Promise<void> {
  try {
    await confirmBeforeLastByte();
  } catch (cause) {
    throw new HttpClientError('aborted', 'the request was withdrawn before its last byte', cause);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function toHttpClientError(error: unknown, host: string): HttpClientError {
  if (error instanceof HttpClientError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLong(host, error);
  return code.startsWith('HPE_') ? notHttp(host, error) : connectionLost(host, error);
}
