import { once } from 'node:events';
import { connect } from 'node:net';

import { CallwayError } from '../../base/errors.ts';
import { resolveTarget } from '../../http/lookup.ts';
import { checkTcpTarget, guardedTcpUrl } from '../../http/target.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { DialDeps } from './dialWebSocket.ts';
import type { StreamSocket } from './streamSocket.ts';
import { TcpSocket } from './tcpSocket.ts';

/** The caller hears nothing meanwhile. */
const CONNECT_TIMEOUT_MS = 5000;

/**
 * Opens a TCP connection to a user's bot, whose address is guarded as that of a WebSocket.
 *
 * @throws {HttpClientError} When the policy forbids the address, or it does not resolve.
 * @throws {CallwayError} `engine_unavailable` when the bot refuses or does not answer in time.
 */
export async function dialTcp(
  { url }: StreamTarget,
  deps: DialDeps,
  signal: AbortSignal,
): Promise<StreamSocket> {
  const problem = checkTcpTarget(url, deps.policy);
  if (problem) throw problem;
  const [host] = await resolveTarget(guardedTcpUrl(url, deps.policy), deps, signal);
  const socket = connect({ host, port: Number(new URL(url).port) });
  const timeout = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, timeout]) });
  } catch (cause) {
    socket.destroy();
    if (signal.aborted) throw signal.reason;
    const why = timeout.aborted ? 'no answer in time' : String(cause);
    throw new CallwayError('unavailable', 'engine_unavailable', `the agent’s port did not open: ${why}`, {
      cause,
    });
  }
  return new TcpSocket(socket, Buffer.alloc(0), () => performance.now());
}
