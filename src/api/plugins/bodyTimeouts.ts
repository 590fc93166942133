import type { IncomingMessage } from 'node:http';

import type { Clock, Timer } from '../../base/clock.ts';

/** A client has so long to send a whole body. */
export const BODY_TIMEOUT_MS = 30_000;
/** A file may take longer than that, as long as so much of it comes in each span of that length. */
export const LEAST_BYTES_PER_SPAN = 16_384 * (BODY_TIMEOUT_MS / 1_000);
/** How much later than due a slow client may be noticed: its time begins with the first look at it. */
const LOOK_EVERY_MS = 1_000;

/** What is looked at of a request. */
export type WatchedRequest = Pick<
  IncomingMessage,
  'headers' | 'complete' | 'destroyed' | 'readableLength' | 'readableHighWaterMark'
> & { readonly socket: Pick<IncomingMessage['socket'], 'bytesRead'> };
type Connection = WatchedRequest['socket'];

/**
 * Gives up requests whose bodies take too long. Node has one limit for a whole server, which would have to be as long
 * as the slowest upload's; so that holds as the longest of all, and this one for bodies in particular.
 */
export interface BodyWatch<Request extends WatchedRequest> {
  /** Called at the end of the request's headers. */
  begin(request: Request): void;
  /** From now on the body may take longer, but not stand still: {@link LEAST_BYTES_PER_SPAN}. */
  allowLong(request: Request): void;
  /** Idempotent. */
  close(): void;
}

interface Span {
  readonly sinceMs: number;
  /** What its connection had received when the span began. */
  readonly bytesRead: number;
  readonly mayTakeLong: boolean;
}

/** @param giveUp - Answers the client and ends its connection. */
export function createBodyWatch<Request extends WatchedRequest>(
  clock: Clock,
  giveUp: (request: Request) => void,
): BodyWatch<Request> {
  // Most bodies are there before anybody looks, so that beginning costs next to nothing: only the last request of each
  // connection is kept, since each body ends before the next request comes.
  const latest = new Map<Connection, Request>();
  const spans = new Map<Request, Span>();
  let timer: Timer | undefined;

  const spanOf = ({ socket }: Request, mayTakeLong: boolean): Span => ({
    sinceMs: clock.monotonicMs(),
    bytesRead: socket.bytesRead,
    mayTakeLong,
  });
  const look = () => {
    for (const request of latest.values())
      if (!spans.has(request)) spans.set(request, spanOf(request, false));
    latest.clear();
    const nowMs = clock.monotonicMs();
    for (const [request, span] of spans) {
      if (request.complete || request.destroyed) spans.delete(request);
      else if (nowMs - span.sinceMs < BODY_TIMEOUT_MS) continue;
      else if (span.mayTakeLong && advances(request, span)) spans.set(request, spanOf(request, true));
      else {
        spans.delete(request);
        giveUp(request);
      }
    }
    timer = spans.size > 0 ? clock.setTimer(look, LOOK_EVERY_MS) : undefined;
  };
  return {
    begin(request) {
      if (!hasBody(request)) return;
      latest.set(request.socket, request);
      timer ??= clock.setTimer(look, LOOK_EVERY_MS);
    },
    allowLong(request) {
      const isWatched = latest.get(request.socket) === request || spans.has(request);
      if (isWatched) spans.set(request, spanOf(request, true));
    },
    close() {
      timer?.cancel();
      timer = undefined;
      latest.clear();
      spans.clear();
    },
  };
}

/** @see RFC 9112 section 6.3 */
function hasBody({ headers }: WatchedRequest): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** A client that is not listened to, because what it sent already is still being kept, is not slow. */
function advances(request: WatchedRequest, span: Span): boolean {
  const isHeldUp = request.readableLength >= request.readableHighWaterMark;
  return isHeldUp || request.socket.bytesRead - span.bytesRead >= LEAST_BYTES_PER_SPAN;
}
