import { limitMessages, type Peer } from '../../base/async/messageLimit.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { StreamMessage } from '../../dialects/dialect.ts';
import { startHeartbeat } from './heartbeat.ts';
import {
  CLOSE_INTERNAL_ERROR,
  CLOSE_POLICY_VIOLATION,
  type StreamSocket,
  toMessage,
} from './streamSocket.ts';

/** For the peer to close as well. */
const CLOSE_TIMEOUT_MS = 2000;

export interface MessageReader {
  read(message: StreamMessage, data: Buffer): void;
  /** Reading a message has thrown. */
  onError(error: unknown): void;
}

/**
 * Reads a peer's messages for the life of its connection. The connection is closed when the peer is frozen, floods it,
 * or sends what a reader throws at: one thread serves many calls, and an uncaught error would end them all.
 */
export function readMessages(socket: StreamSocket, clock: Clock, peer: Peer, reader: MessageReader): void {
  const admit = limitMessages(clock, peer);
  let isRefused = false;
  const refuse = (code: number, reason: string) => {
    isRefused = true;
    socket.close(code, reason);
    const timer = clock.setTimer(() => socket.terminate(), CLOSE_TIMEOUT_MS);
    socket.on('close', () => timer.cancel());
  };
  startHeartbeat(socket, clock, peer === 'ourOwn');
  // A failed socket closes as well.
  socket.on('error', () => {});
  const isAdmitted = (data: Buffer, isBinary: boolean) => {
    if (isRefused) return false;
    const isInTime = admit(data, isBinary);
    if (!isInTime) refuse(CLOSE_POLICY_VIOLATION, 'messages arrive faster than a call has them');
    return isInTime;
  };
  const onControlFrame = (data: Buffer) => void isAdmitted(data, true);
  // The answers wait in memory for a peer that does not read them.
  socket.on('ping', onControlFrame);
  socket.on('pong', onControlFrame);
  socket.on('message', (data, isBinary) => {
    if (!isAdmitted(data, isBinary)) return;
    try {
      reader.read(toMessage(data, isBinary), data);
    } catch (error) {
      reader.onError(error);
      refuse(CLOSE_INTERNAL_ERROR, 'a message could not be read');
    }
  });
}
