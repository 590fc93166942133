import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { audioDialectNames, type DialectName, findAudioDialect } from '../../src/dialects/index.ts';
import { acceptStream } from '../../src/streams/acceptStream.ts';
import { carrierDialectNames, findCarrierDialect } from '../../src/streams/check/carrierDialects.ts';
import type { ServerStream } from '../../src/streams/serverStream.ts';
import { sendMessage, toMessage } from '../../src/streams/transport/streamSocket.ts';
import { ODD_VALUES, toText, withOddValue } from '../dialects/support/oddMessages.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { drive, type MemorySocket, memorySockets } from './support/memorySockets.ts';

const STREAM_ID = '0198c3a4-7d1e-7c3b-9f00-000000000001';
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** @returns Sends a second of the caller's silence. */
function startCall(dialect: DialectName, socket: MemorySocket): () => void {
  const name = carrierDialectNames.find((carrier) => carrier === dialect);
  if (name === undefined) {
    const send = (message: object) => socket.send(JSON.stringify(message));
    send({ type: 'session.update', session: { audio: { input: { format: { type: 'audio/pcm' } } } } });
    const audio = Buffer.alloc(48_000).toString('base64');
    return () => send({ type: 'input_audio_buffer.append', audio });
  }
  const connection = {
    send: (message: string | Uint8Array) => sendMessage(socket, message),
    close: () => socket.close(1000),
  };
  const target = {
    url: '',
    dialect,
    streamId: STREAM_ID,
    callId: 'CA1',
    customParameters: {},
    canReconnect: false,
  };
  const client = findCarrierDialect(name).openClient(connection, { target, sampleRateHz: 8000 });
  // Some carriers send no audio before the agent has answered their start.
  socket.on('message', (data, isBinary) => client.read(toMessage(data, isBinary), IGNORED));
  const frame = new Int16Array(client.sampleRateHz / 50);
  let position = 0;
  const second = () => {
    for (let n = 0; n < 50; n++, position += frame.length) client.audio(frame, position);
  };
  // Some carriers describe the stream with their first audio.
  client.audio(frame, 0);
  return second;
}

/** A peer that has started its stream. */
async function connect(dialect: DialectName) {
  const clock = createSimulatedClock();
  const [socket, end] = memorySockets();
  const accepting = acceptStream(
    end,
    { projectId: 'p', sessionId: 's', dialect },
    { clock, onListenerError: () => undefined },
  );
  const sendSecond = startCall(dialect, socket);
  const stream = (await drive(clock, accepting)) as ServerStream;
  const closes: number[] = [];
  stream.events.on('closed', ({ code }) => closes.push(code));
  await settled();
  return { clock, socket, end, stream, closes, sendSecond };
}

const garbage = fc.oneof(
  fc.string(),
  fc.uint8Array({ maxLength: 700 }),
  fc.json(),
  fc.record({
    event: fc.constantFrom('media', 'mark', 'dtmf', 'start', 'x'),
    media: fc.anything(),
    mark: fc.anything(),
  }),
);
const ignore = () => undefined;
const IGNORED = {
  ...{ audio: ignore, dtmf: ignore, mark: ignore, cleared: ignore, hold: ignore, transferStatus: ignore },
  ...{ control: ignore, request: ignore, stopped: ignore, malformed: ignore },
  ...{ clear: ignore, command: ignore, failoverPrompts: ignore },
};
/** The messages that start a stream, with one of their values changed at a time. */
function oddStarts(dialect: DialectName): readonly string[] {
  const sent: (string | Uint8Array)[] = [];
  const [socket] = memorySockets();
  socket.send = (message) => void sent.push(message);
  startCall(dialect, socket);
  return sent.flatMap((message) => ODD_VALUES.flatMap((value) => withOddValue(message, value)));
}

async function expectFloodClosed(dialect: DialectName, message: string, count: number): Promise<void> {
  const { stream, socket, closes } = await connect(dialect);
  for (let n = 0; n < count; n++) socket.send(message);
  await settled();
  await settled();
  expect(closes).toEqual([1008]);
  expect(stream.malformed).toBeLessThan(5000);
}

describe.each(audioDialectNames)('A peer in %s', (dialect) => {
  test('may start with odd values: the stream is served or refused, and its audio is played', () => {
    const starts = oddStarts(dialect);
    // AudioSocket's start is a UUID, in binary.
    expect(starts.length > 0).toBe(dialect !== 'audiosocket');
    for (const message of starts) {
      const server = findAudioDialect(dialect).openServer({ send: () => undefined, close: () => undefined });
      const start = server.readStart(message);
      if (typeof start !== 'object') continue;
      server.read(message, IGNORED);
      for (let n = 0; n < 100; n++) server.play(new Int16Array(700));
    }
  });

  test('may send garbage: the stream goes on', async () => {
    const { stream, socket, closes, sendSecond } = await connect(dialect);
    for (const sample of fc.sample(garbage, { numRuns: 150, seed: 22 }))
      socket.send(typeof sample === 'string' || sample instanceof Uint8Array ? sample : toText(sample));
    await settled();
    expect(stream.malformed).toBeGreaterThan(0);
    const before = stream.receivedSamples;
    sendSecond();
    await settled();
    expect(stream.receivedSamples - before).toBeGreaterThanOrEqual(stream.info.sampleRateHz);
    expect(closes).toEqual([]);
  });

  test('that sends faster than real time for a minute is closed', async () => {
    const { closes, sendSecond } = await connect(dialect);
    for (let n = 0; n < 62; n++) sendSecond();
    await settled();
    expect(closes).toEqual([1008]);
  });

  test('that floods the thread with messages is closed', () => expectFloodClosed(dialect, '{}', 6000));

  test('that does not read is closed', async () => {
    const { stream, end, closes } = await connect(dialect);
    end.bufferedAmount = 3 * 1024 * 1024;
    for (let n = 0; n < 3; n++) stream.play(new Int16Array(stream.info.sampleRateHz));
    await settled();
    await settled();
    expect(closes).toEqual([1013]);
  });

  test('that has gone is dropped within 90 s', async () => {
    const { clock, end, closes } = await connect(dialect);
    end.isHalfOpen = true;
    clock.advance(90_000);
    await settled();
    expect(closes).toEqual([1006]);
  });
});

test.each([
  ['large messages', ' '.repeat(1_000_000), 100],
  ['messages of much JSON', `[${'{"":'.repeat(4000)}`, 30],
])('A peer that floods the thread with %s is closed', (_what, message, count) =>
  expectFloodClosed('twilio', message, count),
);

test.each(['ping', 'pong'])('A peer that floods the thread with %s frames is closed', async (frame) => {
  const { end, closes } = await connect('twilio');
  for (let n = 0; n < 6000; n++) end.emit(frame, Buffer.alloc(0));
  await settled();
  await settled();
  expect(closes).toEqual([1008]);
});

test('A peer is heard for as many digits as a caller can press', async () => {
  const { clock, stream, socket } = await connect('twilio');
  let digits = 0;
  stream.events.on('dtmf', () => digits++);
  const press = (count: number) =>
    socket.send(JSON.stringify({ event: 'dtmf', dtmf: { digits: '5'.repeat(count) } }));
  for (let n = 0; n < 50; n++) press(10);
  await settled();
  expect(digits).toBe(200);
  clock.advance(1000);
  press(10);
  await settled();
  expect(digits).toBe(210);
});
