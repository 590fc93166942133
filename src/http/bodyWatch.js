/** A client has so long to send a whole body. */
export const BODY_TIMEOUT_MS = 30_000;
/** A file may take longer than that, as long as so much of it comes in each span of that length. */
export const LEAST_BYTES_PER_SPAN = 16_384 * (BODY_TIMEOUT_MS / 1_000);
/** How much later than due a slow client may be noticed. */
const LOOK_EVERY_MS = 1_000;
/** @param giveUp - Answers the client and ends its connection. */
export function createBodyWatch(clock, giveUp) {
  const spans = new Map();
  let timer;
  const spanOf = ({ socket }, mayTakeLong) => ({
    sinceMs: clock.monotonicMs(),
    bytesRead: socket.bytesRead,
    mayTakeLong,
  });
  const look = () => {
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
      spans.set(request, spanOf(request, false));
      timer ??= clock.setTimer(look, LOOK_EVERY_MS);
    },
    allowLong(request) {
      if (spans.has(request)) spans.set(request, spanOf(request, true));
    },
    close() {
      timer?.cancel();
      timer = undefined;
      spans.clear();
    },
  };
}
/** @see RFC 9112 section 6.3 */
function hasBody({ headers }) {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}
/** A client that is not listened to, because what it sent already is still being kept, is not slow. */
function advances(request, span) {
  const isHeldUp = request.readableLength >= request.readableHighWaterMark;
  return isHeldUp || request.socket.bytesRead - span.bytesRead >= LEAST_BYTES_PER_SPAN;
}
