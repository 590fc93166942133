import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { RecognitionEvent } from '../../../src/models/ports/streamingSpeechToText.ts';
import { createDial } from '../../../src/models/sockets/dial.ts';
import { createCustomSpeechToText } from '../../../src/vendors/custom/speechToText.ts';
import { listenOnLoopback } from '../../support/loopbackServer.ts';

/** A server of `stt.callway.v1`. */
async function startServer(onMessage: (socket: WebSocket, message: Buffer, isBinary: boolean) => void) {
  const server = createServer();
  const sockets = new WebSocketServer({ server, handleProtocols: ([first]) => first ?? false });
  const headers: (string | undefined)[] = [];
  sockets.on('connection', (socket, request) => {
    headers.push(request.headers.authorization, request.headers['sec-websocket-protocol']);
    socket.on('message', (data, isBinary) => onMessage(socket, data as Buffer, isBinary));
  });
  const { port, close } = await listenOnLoopback(server);
  onTestFinished(close);
  return { baseUrl: `http://127.0.0.1:${port}`, headers };
}

/** Connects and collects events; `until` waits for one. */
function connect(baseUrl: string, sampleRateHz = 8000) {
  const events: RecognitionEvent[] = [];
  let wake: () => void = () => undefined;
  const recognizer = createCustomSpeechToText({
    baseUrl,
    apiKey: 'secret',
    dial: createDial(undefined),
    clock: systemClock,
  });
  const options = { sampleRateHz, language: 'en', keyterms: ['Callway'] };
  const connection = recognizer.connect(options, (event) => {
    events.push(event);
    wake();
  });
  const until = async (type: RecognitionEvent['type']) => {
    while (!events.some((event) => event.type === type))
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return events;
  };
  return { recognizer, connection, until };
}

test('The caller’s audio is sent as L16 at 16 kHz, and transcripts and turns come back', async () => {
  const texts: unknown[] = [];
  let bytes = 0;
  const { baseUrl, headers } = await startServer((socket, message, isBinary) => {
    if (!isBinary) {
      texts.push(JSON.parse(String(message)));
      return;
    }
    bytes += message.length;
    if (bytes !== 16_000) return;
    const words = [{ word: 'hello', startMs: 0, endMs: 400 }];
    for (const answer of [
      { type: 'partial', text: 'hel' },
      { type: 'final', text: ' hello ', words, confidence: 0.9, language: 'en' },
      { type: 'end_of_turn', eager: true },
      { type: 'turn_resumed' },
      { type: 'end_of_turn', eager: false },
    ])
      socket.send(JSON.stringify(answer));
  });
  const { recognizer, connection, until } = connect(baseUrl);
  for (let n = 0; n < 26; n++) connection.push(new Int16Array(160).fill(n));
  const events = await until('end_of_turn');
  expect(events.map(({ type }) => type)).toEqual([
    'connected',
    'interim',
    'final',
    'eager_end',
    'turn_resumed',
    'end_of_turn',
  ]);
  expect(events[2]).toMatchObject({
    transcript: { text: 'hello', words: [{ word: 'hello', endMs: 400 }], confidence: 0.9, language: 'en' },
  });
  expect(headers).toEqual(['Bearer secret', 'stt.callway.v1']);
  connection.close();
  await expect
    .poll(() => texts)
    .toEqual([
      { type: 'start', sampleRateHz: 16_000, encoding: 'l16', language: 'en', keyterms: ['Callway'] },
      { type: 'stop' },
    ]);
  await recognizer.close();
});

test.each([
  [
    'an error that may pass',
    JSON.stringify({ type: 'error', message: 'busy', retryable: true }),
    'model_unavailable',
  ],
  [
    'an error that will not',
    JSON.stringify({ type: 'error', message: 'no', retryable: false }),
    'model_rejected',
  ],
  ['garbage', '{"type":', 'model_malformed'],
  ['a message without a type', '{"kind":"hello"}', 'model_malformed'],
])('After %s the connection fails', async (_title, answer, code) => {
  const { baseUrl } = await startServer((socket) => socket.send(answer));
  const [, failed] = await connect(baseUrl).until('failed');
  expect(failed).toMatchObject({ type: 'failed', error: { code } });
});

test('A closed socket and a refused key fail the connection; the key is in no message', async () => {
  const { baseUrl } = await startServer((socket) => socket.terminate());
  const [, closed] = await connect(baseUrl).until('failed');
  expect(closed).toMatchObject({ error: { code: 'model_unavailable', retryable: true } });

  const refusing = createServer((_request, response) => response.writeHead(401).end());
  refusing.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n'));
  const { port, close } = await listenOnLoopback(refusing);
  onTestFinished(close);
  const [refused] = await connect(`http://127.0.0.1:${port}`).until('failed');
  expect(refused).toMatchObject({ error: { code: 'model_rejected', retryable: false } });
  expect(String((refused as { error: Error }).error.message)).not.toContain('secret');
});

test('A message that is not known is ignored', async () => {
  const { baseUrl } = await startServer((socket) => {
    socket.send('{"type":"hello"}');
    socket.send('{"type":"final","text":"a table"}');
  });
  const events = await connect(baseUrl).until('final');
  expect(events.map(({ type }) => type)).toEqual(['connected', 'final']);
});
