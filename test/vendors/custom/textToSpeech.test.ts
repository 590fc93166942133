import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { SynthesisEvent } from '../../../src/models/ports/streamingTextToSpeech.ts';
import { createDial } from '../../../src/models/sockets/dial.ts';
import { createCustomTextToSpeech } from '../../../src/vendors/custom/textToSpeech.ts';
import { listenOnLoopback } from '../../support/loopbackServer.ts';

interface Message {
  readonly type: string;
  readonly id: string;
  readonly text?: string;
}

/** A server of `tts.callway.v1`; `received` has each connection's messages. */
async function startServer(onMessage: (socket: WebSocket, message: Message) => void) {
  const server = createServer();
  const sockets = new WebSocketServer({ server, handleProtocols: ([first]) => first ?? false });
  const received: Message[][] = [];
  sockets.on('connection', (socket) => {
    const messages: Message[] = [];
    received.push(messages);
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Message;
      messages.push(message);
      onMessage(socket, message);
    });
  });
  const { port, close } = await listenOnLoopback(server);
  onTestFinished(close);
  const synthesizer = createCustomTextToSpeech({
    baseUrl: `http://127.0.0.1:${port}`,
    voice: 'mia',
    dial: createDial(undefined),
    clock: systemClock,
  });
  onTestFinished(() => synthesizer.close());
  return { received, connection: synthesizer.connect() };
}

function collect() {
  const events: SynthesisEvent[] = [];
  return { events, onEvent: (event: SynthesisEvent) => void events.push(event) };
}

const tell = (socket: WebSocket, message: object) => socket.send(JSON.stringify(message));

test('Words go out as they are written; samples, word times and the end come back', async () => {
  const { received, connection } = await startServer((socket, { type, id }) => {
    if (type !== 'flush') return;
    socket.send(Buffer.from([1, 0, 255, 255]));
    tell(socket, { type: 'words', id, words: [{ word: 'Hello', startMs: 0, endMs: 300 }] });
    tell(socket, { type: 'done', id });
  });
  const { events, onEvent } = collect();
  const stream = connection.speak({ language: 'en' }, onEvent);
  stream.write('Hello ');
  stream.write('there.');
  stream.end();
  await expect.poll(() => events.at(-1)?.type).toBe('done');
  expect(received[0]).toEqual([
    { type: 'start', id: 'text-1', sampleRateHz: 24_000, encoding: 'l16', voice: 'mia', language: 'en' },
    { type: 'text', id: 'text-1', text: 'Hello ' },
    { type: 'text', id: 'text-1', text: 'there.' },
    { type: 'flush', id: 'text-1' },
  ]);
  expect(events).toEqual([
    { type: 'samples', samples: Int16Array.of(1, -1) },
    { type: 'words', words: [{ word: 'Hello', startMs: 0, endMs: 300 }] },
    { type: 'done' },
  ]);
});

test('The audio of a cancelled text that is still on its way is not that of the next one', async () => {
  const { received, connection } = await startServer((socket, { type, id }) => {
    if (type === 'cancel') socket.send(Buffer.from([7, 0]));
    if (type !== 'flush') return;
    socket.send(Buffer.from([1, 0]));
    tell(socket, { type: 'done', id });
  });
  const first = connection.speak({}, () => undefined);
  first.write('Hello ');
  await expect.poll(() => received[0]?.length).toBe(2);
  first.cancel();
  const { events, onEvent } = collect();
  const second = connection.speak({}, onEvent);
  second.write('Yes.');
  second.end();
  await expect.poll(() => events.at(-1)?.type).toBe('done');
  expect(events[0]).toEqual({ type: 'samples', samples: Int16Array.of(1) });
  expect(events).toHaveLength(2);
});

test('An error of one text ends that text; a lost connection ends all, and the next text connects again', async () => {
  const { received, connection } = await startServer((socket, { type, id, text }) => {
    if (type === 'text' && text === 'bad ')
      tell(socket, { type: 'error', id, message: 'no', retryable: false });
    if (type === 'text' && text === 'worse ') socket.terminate();
    if (type === 'flush') tell(socket, { type: 'done', id });
  });
  const [bad, worse, good] = [collect(), collect(), collect()];
  connection.speak({}, bad.onEvent).write('bad ');
  await expect.poll(() => bad.events).toMatchObject([{ type: 'failed', error: { code: 'model_rejected' } }]);
  connection.speak({}, worse.onEvent).write('worse ');
  await expect
    .poll(() => worse.events)
    .toMatchObject([{ type: 'failed', error: { code: 'model_unavailable' } }]);
  connection.speak({}, good.onEvent).end();
  await expect.poll(() => good.events).toEqual([{ type: 'done' }]);
  expect(received).toHaveLength(2);
});

test('A message that is not known is ignored', async () => {
  const { connection } = await startServer((socket) => {
    socket.send('{"type":"hello"}');
    socket.send('{"type":"done","id":"text-1"}');
  });
  const { events, onEvent } = collect();
  connection.speak({}, onEvent).write('Hello ');
  await expect.poll(() => events).toEqual([{ type: 'done' }]);
});

test.each(['{"type":', '{"kind":"hello"}'])('After %j the text fails as malformed', async (answer) => {
  const { connection } = await startServer((socket) => socket.send(answer));
  const { events, onEvent } = collect();
  connection.speak({}, onEvent).write('Hello ');
  await expect.poll(() => events).toMatchObject([{ type: 'failed', error: { code: 'model_malformed' } }]);
});
