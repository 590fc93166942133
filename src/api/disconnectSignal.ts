import type { FastifyReply } from 'fastify';

/** Logged for a request whose client disconnected before a response was sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** Abort reason of work whose client disconnected. */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError';
}

/**
 * Detects a client that disconnects before its response is complete, and completes the request: Fastify runs the
 * `onResponse` hooks only after a sent response or an error of the response stream.
 *
 * @returns A signal that is aborted when the connection closes.
 */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const { raw } = reply;
  const controller = new AbortController();
  const onClose = () => {
    if (raw.writableFinished) return;
    const reason = new ClientDisconnectedError('The client disconnected before the response was complete');
    controller.abort(reason);
    if (!raw.headersSent) raw.statusCode = CLIENT_CLOSED_REQUEST;
    // From here on neither output nor an error response may be written.
    reply.hijack();
    if (raw.listenerCount('error') > 0) raw.emit('error', reason);
  };
  if (raw.destroyed) onClose();
  else raw.once('close', onClose);
  return controller.signal;
}
