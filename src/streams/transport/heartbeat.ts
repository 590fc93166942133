import type { Clock } from '../../base/values/clock.ts';
import { OPEN, type StreamSocket } from './streamSocket.ts';

/** Our own processes answer at once, unless they are frozen or cut off. */
const INTERNAL_PING_INTERVAL_MS = 1000;
/** A user's agent may be busy and still be alive. */
const EXTERNAL_PING_INTERVAL_MS = 3000;
/**
 * Counted rather than timed: a process that was itself suspended finds its timer due before the answers that have
 * arrived, and would otherwise blame its peer.
 */
const MAX_UNANSWERED = 5;

/**
 * Pings the peer for the life of the connection, and terminates it after five intervals without any message from the
 * peer: TCP alone takes minutes to detect that.
 *
 * @param isInternal - The peer is one of our own processes.
 * @see RFC 6455 section 5.5.2
 */
export function startHeartbeat(socket: StreamSocket, clock: Clock, isInternal: boolean): void {
  const intervalMs = isInternal ? INTERNAL_PING_INTERVAL_MS : EXTERNAL_PING_INTERVAL_MS;
  let unanswered = 0;
  const beat = () => {
    if (unanswered === MAX_UNANSWERED) return socket.terminate();
    unanswered++;
    if (socket.readyState === OPEN) socket.ping();
    timer = clock.setTimer(beat, intervalMs);
  };
  let timer = clock.setTimer(beat, intervalMs);
  const answered = () => {
    unanswered = 0;
  };
  socket.on('message', answered);
  socket.on('pong', answered);
  socket.on('close', () => timer.cancel());
}
