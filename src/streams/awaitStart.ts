import type { Peer } from '../base/async/messageLimit.ts';
import type { Clock } from '../base/values/clock.ts';
import type { StreamMessage } from '../dialects/dialect.ts';
import { readMessages } from './transport/readMessages.ts';
import { CLOSE_MESSAGE_TOO_BIG, CLOSE_PROTOCOL_ERROR, type StreamSocket } from './transport/streamSocket.ts';

/** Carriers send the start right after connecting. */
const START_TIMEOUT_MS = 5000;
/** Two seconds of audio at 16 kHz. */
export const MAX_BYTES_BEFORE_START = 64 * 1024;

export interface AwaitStartDeps {
  readonly clock: Clock;
  readonly onListenerError: (error: unknown, event: string) => void;
}

/**
 * Waits for the start of an admitted connection.
 *
 * @param open - Makes a stream of the start message; a text is the reason for refusing it, undefined is for other messages.
 * @returns The stream; add listeners at once, since the messages so far follow in the same turn of the event loop.
 *   Undefined, and the socket closed, when no start came in time or within {@link MAX_BYTES_BEFORE_START}, or was refused.
 */
export function awaitStart<Stream extends { receive(message: StreamMessage): void }>(
  socket: StreamSocket,
  { clock, onListenerError }: AwaitStartDeps,
  peer: Peer,
  open: (message: StreamMessage) => Stream | string | undefined,
): Promise<Stream | undefined> {
  return new Promise((resolve) => {
    let early: StreamMessage[] | undefined = [];
    let earlyBytes = 0;
    let stream: Stream | undefined;
    let isRefused = false;
    const refuse = (reason: string, code = CLOSE_PROTOCOL_ERROR) => {
      if (stream || isRefused) return;
      isRefused = true;
      early = undefined;
      timer.cancel();
      socket.close(code, reason);
      resolve(undefined);
    };
    const start = (started: Stream) => {
      timer.cancel();
      stream = started;
      resolve(started);
      // After the listeners of the promise.
      setImmediate(() => {
        const messages = early ?? [];
        early = undefined;
        try {
          for (const message of messages) started.receive(message);
        } catch (error) {
          onListenerError(error, 'message');
          socket.terminate();
        }
      });
    };
    const timer = clock.setTimer(() => refuse('no start message was received'), START_TIMEOUT_MS);

    const read = (message: StreamMessage, { length }: Buffer) => {
      if (isRefused) return;
      if (early === undefined) return stream?.receive(message);
      early.push(message);
      if (stream) return;
      earlyBytes += length;
      if (earlyBytes > MAX_BYTES_BEFORE_START) {
        return refuse(
          `more than ${MAX_BYTES_BEFORE_START} bytes came before the start`,
          CLOSE_MESSAGE_TOO_BIG,
        );
      }
      const opened = open(message);
      if (typeof opened === 'string') refuse(opened);
      else if (opened) start(opened);
    };
    readMessages(socket, clock, peer, { read, onError: (error) => onListenerError(error, 'message') });
    socket.on('close', () => refuse('closed'));
  });
}
