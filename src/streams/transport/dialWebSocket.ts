import { WebSocket } from 'ws';

import { CallwayError } from '../../base/errors.ts';
import { bareHost } from '../../infra/httpClient/address.ts';
import { HttpClientError } from '../../infra/httpClient/errors.ts';
import type { Lookup } from '../../infra/httpClient/lookup.ts';
import { isAddress, resolveTarget } from '../../infra/httpClient/resolveTarget.ts';
import { checkTarget, type TargetPolicy } from '../../infra/httpClient/target.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';

export interface DialDeps {
  readonly policy: TargetPolicy;
  readonly lookup: Lookup;
  /** Trusted certificates, PEM, instead of Node's. */
  readonly ca?: string;
}

/** The caller hears nothing meanwhile. */
const CONNECT_TIMEOUT_MS = 5000;
/** Above a minute of speech at 24 kHz. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Opens the WebSocket to an agent. A user's address must be public and is resolved once: the connection goes to the
 * address that was checked.
 *
 * @throws {HttpClientError} When the policy forbids the address, or it does not resolve.
 * @throws {CallwayError} `engine_unavailable` when the agent refuses or does not answer in time.
 */
export async function dialWebSocket(
  target: StreamTarget,
  subprotocol: string | undefined,
  deps: DialDeps,
  signal: AbortSignal,
): Promise<WebSocket> {
  const url = new URL(target.url);
  const address = target.isInternal ? undefined : await checkedAddress(url, deps, signal);
  const host = bareHost(url.hostname);
  const socket = new WebSocket(url, subprotocol === undefined ? [] : [subprotocol], {
    handshakeTimeout: CONNECT_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
    ...(address === undefined ? {} : { lookup: pinnedTo(address) }),
    ...(isAddress(host) ? {} : { servername: host }),
    ...(deps.ca === undefined ? {} : { ca: deps.ca }),
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
async function checkedAddress(url: URL, deps: DialDeps, signal: AbortSignal): Promise<string> {
  const asHttp = new URL(url.href.replace(/^ws/i, 'http'));
  const problem = checkTarget(asHttp.href, deps.policy);
  if (problem) throw problem;
  const [first] = await resolveTarget(asHttp, deps, signal);
  if (first === undefined) throw new HttpClientError('dns_failed', `${url.hostname} has no address`);
  return first;
}

type LookupCallback = (error: null, address: string | object[], family?: number) => void;

function pinnedTo(address: string) {
  const family = address.includes(':') ? 6 : 4;
  return (_hostname: string, options: { all?: boolean }, callback: LookupCallback) => {
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
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
      resolve();
    });
    socket.once('error', (cause) => {
      settle();
      const message = `the agent's WebSocket did not open: ${cause.message}`;
      reject(new CallwayError('unavailable', 'engine_unavailable', message, { cause }));
    });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
