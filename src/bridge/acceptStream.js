import { createEngineStream } from './engineStream.js';
import { readMessage } from './messages.js';
import { CLOSE_PROTOCOL_ERROR } from './streamSocket.js';

/** A carrier says `start` right after it has connected. */
const START_TIMEOUT_MS = 5000;
/** Audio may overtake `start` under load; what comes before it is kept, some seconds of it. */
const MAX_EARLY_MESSAGES = 200;
const SAMPLE_RATES_HZ = [8000, 16_000, 24_000];
/**
 * Waits for the `start` of a socket that has been let in.
 *
 * @returns The stream, with whatever came before its start already on the way: listen to it at once. Undefined where
 *   the socket closed, said nothing in time, or asked for a format that is not spoken here; it is closed then.
 */
export function acceptStream(socket, expected, deps) {
  return new Promise((resolve) => {
    const early = [];
    let stream;
    let isFlowing = false;
    let isOver = false;
    const giveUp = (reason) => {
      if (isOver || stream) return;
      isOver = true;
      timer.cancel();
      socket.close(CLOSE_PROTOCOL_ERROR, reason);
      resolve(undefined);
    };
    const begin = (start) => {
      const problem = problemOf(start, expected.dialect);
      if (problem) return giveUp(problem);
      timer.cancel();
      const begun = createEngineStream(socket, {
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
    socket.on('error', () => {});
    socket.on('close', () => giveUp('closed'));
    socket.on('message', (data, isBinary) => {
      if (isFlowing) return stream?.receive(data, isBinary);
      const start = stream || isBinary ? undefined : readStart(data);
      if (start && !isOver) begin(start);
      else if (early.length < MAX_EARLY_MESSAGES && !isOver) early.push({ data, isBinary });
    });
  });
}
function readStart(data) {
  const message = readMessage(data.toString('utf8'));
  return message?.event === 'start' ? message.start : undefined;
}
function problemOf(start, dialect) {
  if (dialect === 'callway') {
    return SAMPLE_RATES_HZ.includes(start.sampleRateHz)
      ? undefined
      : `the sample rate must be one of ${SAMPLE_RATES_HZ.join(', ')}`;
  }
  const isMuLaw = /mulaw|mu-law|pcmu|ulaw/i.test(start.encoding) && start.sampleRateHz === 8000;
  return isMuLaw ? undefined : 'the audio must be audio/x-mulaw at 8000 Hz';
}
function infoOf(start, expected) {
  return {
    streamId: start.streamId,
    dialect: expected.dialect,
    sampleRateHz: start.sampleRateHz,
    projectId: expected.projectId,
    sessionId: expected.sessionId,
    ...(expected.callId === undefined ? {} : { callId: expected.callId }),
    customParameters: start.customParameters,
  };
}
