import type { WebSocket } from 'ws';
import type { TargetGuard } from '../../http/lookup.ts';
import { openWebSocket } from '../../http/webSocket.ts';
import { ModelError } from '../ports/modelError.ts';
import type { WebSocketTarget } from './target.ts';

/** A later connection is of no use to the caller. */
const CONNECT_TIMEOUT_MS = 5000;
/** The longest message, far above a transcript with its words' times. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** `ws` tells the status of a refusal in its message alone. */
const REFUSED = /Unexpected server response: (4\d\d)/;

/** Opens a vendor's WebSocket. @throws {ModelError} */
export type Dial = (target: WebSocketTarget, signal: AbortSignal) => Promise<WebSocket>;

/** @param guard - Undefined for addresses that the operator has configured. */
export function createDial(guard: TargetGuard | undefined): Dial {
  return async ({ url, headers, subprotocol }, signal) => {
    const options = {
      subprotocol,
      headers,
      guard,
      timeoutMs: CONNECT_TIMEOUT_MS,
      maxMessageBytes: MAX_MESSAGE_BYTES,
    };
    const address = new URL(url);
    try {
      return await openWebSocket(address, options, signal);
    } catch (error) {
      signal.throwIfAborted();
      const [, status] = REFUSED.exec(error instanceof Error ? error.message : '') ?? [];
      if (status === undefined || status === '408' || status === '429')
        throw new ModelError('model_unavailable', `${address.host} cannot be reached`, { cause: error });
      const told = status === '401' || status === '403' ? 'refuses the key' : `answered with ${status}`;
      throw new ModelError('model_rejected', `${address.host} ${told}`, { cause: error });
    }
  };
}
