import type { IncomingMessage } from 'node:http';

import type { Clock, Timer } from '../../base/values/clock.ts';

export const BODY_TIMEOUT_MS = 30_000;
/** An upload may take longer, as long as it sends this much in each {@link BODY_TIMEOUT_MS}: 16 KiB a second. */
export const MIN_UPLOAD_BYTES_PER_TIMEOUT = 16_384 * (BODY_TIMEOUT_MS / 1_000);

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's body timeout; undefined for a request without a body. */
    bodyTimeout: BodyTimeout | undefined;
  }
}

type TimedRequest = Pick<
  IncomingMessage,
  'headers' | 'complete' | 'destroyed' | 'readableLength' | 'readableHighWaterMark'
> & {
  readonly socket: { readonly bytesRead: number };
  once(event: 'close', listener: () => void): unknown;
};

export interface BodyTimeout {
  /** Replaces the limit for the whole body by a minimum rate. */
  allowUpload(): void;
}

/**
 * Limits the time for one request body. Node has one request timeout for the whole server, which must be as long as the
 * slowest upload.
 *
 * @see RFC 9112 section 6.3 for which requests have a body.
 */
export function startBodyTimeout(
  request: TimedRequest,
  clock: Clock,
  onTimeout: () => void,
): BodyTimeout | undefined {
  const { headers, socket } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return undefined;
  let isUpload = false;
  let bytesRead = socket.bytesRead;
  let timer: Timer;
  const restart = () => {
    bytesRead = socket.bytesRead;
    timer = clock.setTimer(check, BODY_TIMEOUT_MS);
  };
  const check = () => {
    if (request.complete || request.destroyed) return;
    // While the server itself does not read, the client is not to blame.
    const isPaused = request.readableLength >= request.readableHighWaterMark;
    const isFastEnough = isPaused || socket.bytesRead - bytesRead >= MIN_UPLOAD_BYTES_PER_TIMEOUT;
    if (isUpload && isFastEnough) restart();
    else onTimeout();
  };
  restart();
  request.once('close', () => timer.cancel());
  return {
    allowUpload() {
      timer.cancel();
      isUpload = true;
      if (!request.complete) restart();
    },
  };
}
