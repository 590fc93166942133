import type { Clock } from '../base/clock.ts';
import type { StreamDialect } from '../media/mediaSession.ts';
import type { StreamInfo } from '../voice/audioStream.ts';
import { readMessage, type StreamStart } from './messages.ts';
import { createServerStream, type ServerStream } from './serverStream.ts';
import type { ExpectedStream } from './streamTickets.ts';
import {
  FOREIGN_PING_INTERVAL_MS,
  type Heartbeat,
  OWN_PING_INTERVAL_MS,
  startHeartbeat,
} from './transport/heartbeat.ts';
import { CLOSE_PROTOCOL_ERROR, OPEN, type StreamSocket } from './transport/streamSocket.ts';

export interface AcceptStreamDeps {
  readonly clock: Clock;
  readonly onListenerError: (error: unknown, event: string) => void;
}

interface EarlyMessage {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** A carrier says `start` right after it has connected. */
const START_TIMEOUT_MS = 5000;
/** Audio may overtake `start` under load; what comes before it is kept, some seconds of it. */
const MAX_EARLY_MESSAGES = 200;
const SAMPLE_RATES_HZ: readonly number[] = [8000, 16_000, 24_000];

/**
 * Waits for the `start` of a socket that has been let in.
 *
 * @returns The stream, with whatever came before its start already on the way: listen to it at once. Undefined where
 *   the socket closed, said nothing in time, or asked for a format that is not spoken here; it is closed then.
 */
export function acceptStream(
  socket: StreamSocket,
  expected: ExpectedStream,
  deps: AcceptStreamDeps,
): Promise<ServerStream | undefined> {
  return new Promise((resolve) => {
    const early: EarlyMessage[] = [];
    let stream: ServerStream | undefined;
    let isFlowing = false;
    let isOver = false;
    const giveUp = (reason: string) => {
      if (isOver || stream) return;
      isOver = true;
      timer.cancel();
      socket.close(CLOSE_PROTOCOL_ERROR, reason);
      resolve(undefined);
    };
    const begin = (start: StreamStart) => {
      const problem = problemOf(start, expected.dialect);
      if (problem) return giveUp(problem);
      timer.cancel();
      const begun = createServerStream(socket, {
        info: infoOf(start, expected),
        onListenerError: deps.onListenerError,
      });
      stream = begun;
      resolve(begun);
      // Behind the promise's own listeners, so that they miss nothing.
      setImmediate(() => {
        isFlowing = true;
        for (const { data, isBinary } of early.splice(0)) begun.receive(data, isBinary);
      });
    };
    const timer = deps.clock.setTimer(() => giveUp('no start message came'), START_TIMEOUT_MS);
    const heartbeat = watchGateway(socket, expected, deps.clock);

    socket.on('error', () => {});
    socket.on('close', () => {
      heartbeat.stop();
      giveUp('closed');
    });
    socket.on('pong', () => heartbeat.heard());
    socket.on('message', (data, isBinary) => {
      heartbeat.heard();
      if (isFlowing) return stream?.receive(data, isBinary);
      const start = stream || isBinary ? undefined : readStart(data);
      if (start && !isOver) begin(start);
      else if (early.length < MAX_EARLY_MESSAGES && !isOver) early.push({ data, isBinary });
    });
  });
}

/** A side with the phone that is gone without a word: its talk must not go on with nobody. */
function watchGateway(socket: StreamSocket, { callId }: ExpectedStream, clock: Clock): Heartbeat {
  return startHeartbeat({
    clock,
    intervalMs: callId === undefined ? FOREIGN_PING_INTERVAL_MS : OWN_PING_INTERVAL_MS,
    ping: () => {
      if (socket.readyState === OPEN) socket.ping();
    },
    onSilent: () => socket.terminate(),
  });
}

function readStart(data: Buffer): StreamStart | undefined {
  const message = readMessage(data.toString('utf8'));
  return message?.event === 'start' ? message.start : undefined;
}

function problemOf(start: StreamStart, dialect: StreamDialect): string | undefined {
  if (dialect === 'callway') {
    return SAMPLE_RATES_HZ.includes(start.sampleRateHz)
      ? undefined
      : `the sample rate must be one of ${SAMPLE_RATES_HZ.join(', ')}`;
  }
  const isMuLaw = /mulaw|mu-law|pcmu|ulaw/i.test(start.encoding) && start.sampleRateHz === 8000;
  return isMuLaw ? undefined : 'the audio must be audio/x-mulaw at 8000 Hz';
}

function infoOf(start: StreamStart, expected: ExpectedStream): StreamInfo {
  return {
    streamId: start.streamId,
    dialect: expected.dialect,
    sampleRateHz: start.sampleRateHz,
    projectId: expected.projectId,
    sessionId: expected.sessionId,
    ...(expected.callId === undefined ? {} : { callId: expected.callId }),
    ...(expected.traceparent === undefined ? {} : { traceparent: expected.traceparent }),
    customParameters: start.customParameters,
  };
}
