import { WebSocket } from 'ws';
import { bareHost } from './address.ts';
import { answering, isAddress, resolveTarget, type TargetGuard } from './lookup.ts';
import { checkTarget } from './target.ts';

export interface WebSocketOptions {
  readonly subprotocol?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Absent for an address that the operator has configured. */
  readonly guard?: TargetGuard | undefined;
  /** Trusted certificates, PEM, instead of Node's. */
  readonly ca?: string | undefined;
  /** Until the connection is open. */
  readonly timeoutMs: number;
  /** The most bytes of a received message. */
  readonly maxMessageBytes: number;
}

/**
 * Opens a WebSocket. A user's address must be public and is resolved once: the connection goes to the addresses that
 * were checked.
 *
 * @param url - `wss:` or `ws:`; without a guard also `ws+unix:PATH:/path`.
 * @throws {HttpClientError} When the guard forbids the address, or it does not resolve.
 * @throws {Error} When the peer refuses or does not answer in time; the signal's reason once it is aborted.
 */
export async function openWebSocket(
  url: URL,
  { subprotocol, headers, guard, ca, timeoutMs, maxMessageBytes }: WebSocketOptions,
  signal: AbortSignal,
): Promise<WebSocket> {
  const addresses = guard && (await checkedAddresses(url, guard, signal));
  const host = bareHost(url.hostname);
  const socket = new WebSocket(url, subprotocol === undefined ? [] : [subprotocol], {
    handshakeTimeout: timeoutMs,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    followRedirects: false,
    headers,
    lookup: addresses && answering(addresses),
    ...(isAddress(host) ? {} : { servername: host }),
    ca,
  });
  try {
    await opened(socket, signal);
  } catch (error) {
    socket.on('error', () => {});
    socket.terminate();
    throw error;
  }
  return socket;
}

/** The HTTP rules apply, with `ws` read as `http`. */
async function checkedAddresses(url: URL, guard: TargetGuard, signal: AbortSignal) {
  const asHttp = new URL(url.href.replace(/^ws/i, 'http'));
  const problem = checkTarget(asHttp.href, guard.policy);
  if (problem) throw problem;
  return resolveTarget(asHttp, guard, signal);
}

function opened(socket: WebSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = () => signal.removeEventListener('abort', abort);
    const abort = () => {
      settle();
      reject(signal.reason);
    };
    socket.once('open', () => {
      settle();
      // A message may have come with the handshake: it waits until the caller, which goes on in this turn, listens.
      socket.pause();
      setImmediate(() => socket.resume());
      resolve();
    });
    socket.once('error', (error) => {
      settle();
      reject(error);
    });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
