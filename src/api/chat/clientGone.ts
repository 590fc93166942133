import type { FastifyReply } from 'fastify';

/** What a request is logged as whose client did not wait for the answer; nobody is sent it. */
const CLIENT_GONE_STATUS = 499;

/** Why work for a client stopped: nobody waits for it. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

/**
 * Watches for a client that leaves before its answer is complete. The request then counts as done: its log line is
 * written, and its time is measured, which Fastify by itself does for sent answers only.
 *
 * @returns Aborted at the moment when the connection closes.
 */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const { raw } = reply;
  const controller = new AbortController();
  const onClose = () => {
    if (raw.writableFinished) return;
    const reason = new ClientGoneError('The client left before its answer was complete');
    controller.abort(reason);
    if (!raw.headersSent) raw.statusCode = CLIENT_GONE_STATUS;
    // Nothing of what the work still yields may be written, nor an error be answered.
    reply.hijack();
    if (raw.listenerCount('error') > 0) raw.emit('error', reason);
  };
  if (raw.destroyed) onClose();
  else raw.once('close', onClose);
  return controller.signal;
}
