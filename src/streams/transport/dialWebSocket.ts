import type { WebSocket } from 'ws';
import { CallwayError } from '../../base/errors.ts';
import { HttpClientError } from '../../http/errors.ts';
import type { TargetGuard } from '../../http/lookup.ts';
import { openWebSocket } from '../../http/webSocket.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';

export interface DialDeps extends TargetGuard {
  /** Trusted certificates, PEM, instead of Node's. */
  readonly ca?: string;
}

/** The caller hears nothing meanwhile. */
const CONNECT_TIMEOUT_MS = 5000;
/** Above a minute of speech at 24 kHz. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Opens the WebSocket to an agent. A user's address is guarded.
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
  const options = {
    subprotocol,
    headers: target.headers,
    guard: target.isInternal ? undefined : deps,
    ca: deps.ca,
    timeoutMs: CONNECT_TIMEOUT_MS,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  };
  try {
    return await openWebSocket(new URL(target.url), options, signal);
  } catch (error) {
    if (signal.aborted || error instanceof HttpClientError) throw error;
    const cause = error instanceof Error ? error : new Error(String(error));
    const message = `the agent's WebSocket did not open: ${cause.message}`;
    throw new CallwayError('unavailable', 'engine_unavailable', message, { cause });
  }
}
