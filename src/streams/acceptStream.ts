import type { Clock } from '../base/clock.ts';
import type { StreamMessage, StreamStart } from './dialects/dialect.ts';
import { findDialect } from './dialects/index.ts';
import { atVoiceRate } from './halfRate.ts';
import { ServerStream, toConnection } from './serverStream.ts';
import type { StreamGrant } from './streamTickets.ts';
import { startHeartbeat } from './transport/heartbeat.ts';
import {
  CLOSE_MESSAGE_TOO_BIG,
  CLOSE_PROTOCOL_ERROR,
  type StreamSocket,
  toMessage,
} from './transport/streamSocket.ts';
import { forVisitor } from './visitorDialect.ts';

export interface AcceptStreamDeps {
  readonly clock: Clock;
  readonly onListenerError: (error: unknown, event: string) => void;
}

/** Carriers send the start right after connecting. */
const START_TIMEOUT_MS = 5000;
/** Two seconds of audio at 16 kHz. */
export const MAX_BYTES_BEFORE_START = 64 * 1024;

/**
 * Waits for the start of an admitted connection.
 *
 * @returns The stream; add listeners at once, since the messages so far follow in the same turn of the event loop.
 *   Undefined, and the socket closed, when no start came in time or within {@link MAX_BYTES_BEFORE_START}, or the stream's
 *   format is refused.
 */
export function acceptStream(
  socket: StreamSocket,
  grant: StreamGrant,
  { clock, onListenerError }: AcceptStreamDeps,
): Promise<ServerStream | undefined> {
  return new Promise((resolve) => {
    const { openServer, hasNoMarks } = findDialect(grant.dialect);
    const opened = openServer(toConnection(socket));
    const dialect = grant.visitor ? forVisitor(opened) : opened;
    let early: StreamMessage[] | undefined = [];
    let earlyBytes = 0;
    let stream: ServerStream | undefined;
    let isRefused = false;
    const refuse = (reason: string, code = CLOSE_PROTOCOL_ERROR) => {
      if (stream || isRefused) return;
      isRefused = true;
      early = undefined;
      timer.cancel();
      socket.close(code, reason);
      resolve(undefined);
    };
    const start = (described: StreamStart) => {
      timer.cancel();
      const { sampleRateHz, ...server } = atVoiceRate(dialect, described.sampleRateHz);
      const info = {
        ...grant,
        sampleRateHz,
        customParameters: described.customParameters,
        ...(hasNoMarks && { isHeardEstimated: true }),
      };
      const started = new ServerStream({ socket, ...server, info, clock, onListenerError });
      stream = started;
      resolve(started);
      // After the listeners of the promise.
      setImmediate(() => {
        const messages = early ?? [];
        early = undefined;
        for (const message of messages) started.receive(message);
      });
    };
    const timer = clock.setTimer(() => refuse('no start message was received'), START_TIMEOUT_MS);

    startHeartbeat(socket, clock, grant.callId !== undefined);
    // A failed socket closes as well.
    socket.on('error', () => {});
    socket.on('close', () => refuse('closed'));
    socket.on('message', (data, isBinary) => {
      if (isRefused) return;
      const message = toMessage(data, isBinary);
      if (early === undefined) return stream?.receive(message);
      early.push(message);
      if (stream) return;
      earlyBytes += data.length;
      if (earlyBytes > MAX_BYTES_BEFORE_START) {
        return refuse(
          `more than ${MAX_BYTES_BEFORE_START} bytes came before the start`,
          CLOSE_MESSAGE_TOO_BIG,
        );
      }
      const description = dialect.readStart(message);
      if (typeof description === 'string') refuse(description);
      else if (description) start(description);
    });
  });
}
