import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { ModelError } from '../../../src/models/ports/modelError.ts';
import { createDial } from '../../../src/models/sockets/dial.ts';
import { createCustomSpeechToText } from '../../../src/vendors/custom/speechToText.ts';
import { createCustomTextToSpeech } from '../../../src/vendors/custom/textToSpeech.ts';
import { createLiveSpeech } from '../../../src/vendors/google/liveSpeech.ts';
import { createRealtimeSpeech } from '../../../src/vendors/openai/realtime/speechToSpeech.ts';
import { listenOnLoopback } from '../../support/loopbackServer.ts';
import { threadTime } from '../../support/mainThreadTime.ts';
import { RECOGNITION_VENDORS } from '../support/recognitionVendors.ts';
import { SCRIPTED_VENDORS } from '../synthesis/support/scriptedVendors.ts';

const FLOOD = 10_000;
/** Of all that is sent, read, and refused. */
const MAX_BUSY_MS = 1500;

type OnFailed = (error: ModelError) => void;
type Event = { readonly type: string; readonly error?: ModelError };

const toFailure = (onFailed: OnFailed) => (event: Event) => {
  if (event.type === 'failed' && event.error) onFailed(event.error);
};

/** Connects to the vendor, which has failed when the callback is called. */
type Connect = (baseUrl: string, onFailed: OnFailed) => { close(): void };

const deps = (baseUrl: string) => ({
  baseUrl,
  apiKey: 'secret-key',
  clock: systemClock,
  dial: createDial(undefined),
});
const recognition = { sampleRateHz: 8000 };
const speechToSpeech = { ...recognition, model: 'x', voice: 'v', transcriptionModel: 't', name: 'realtime' };

const VENDORS: Readonly<Record<string, Connect>> = {
  ...Object.fromEntries(
    RECOGNITION_VENDORS.map(({ title, create }): [string, Connect] => [
      `${title} recognition`,
      (baseUrl, onFailed) => create(deps(baseUrl)).connect(recognition, toFailure(onFailed)),
    ]),
  ),
  'custom recognition': (baseUrl, onFailed) =>
    createCustomSpeechToText(deps(baseUrl)).connect(recognition, toFailure(onFailed)),
  ...Object.fromEntries(
    SCRIPTED_VENDORS.map(({ name, create }): [string, Connect] => [
      `${name} synthesis`,
      (baseUrl, onFailed) => speak(create(deps(baseUrl)).connect({}), onFailed),
    ]),
  ),
  'custom synthesis': (baseUrl, onFailed) =>
    speak(createCustomTextToSpeech(deps(baseUrl)).connect({}), onFailed),
  'OpenAI speech-to-speech': (baseUrl, onFailed) =>
    createRealtimeSpeech({ ...speechToSpeech, ...deps(baseUrl) }).connect(recognition, toFailure(onFailed)),
  'Google speech-to-speech': (baseUrl, onFailed) => {
    const engine = createLiveSpeech({ ...speechToSpeech, ...deps(baseUrl) });
    return engine.connect(recognition, toFailure(onFailed));
  },
};

function speak(
  connection: ReturnType<ReturnType<typeof createCustomTextToSpeech>['connect']>,
  onFailed: OnFailed,
) {
  connection.speak({ voice: 'v' }, toFailure(onFailed)).write('Hello there. ');
  return connection;
}

/** Messages that are right for one vendor or other, and pass by all others. */
const unknown = (fields: object) => JSON.stringify({ type: 'something-new', ...fields });
const word = { word: 'yes', startMs: 0, endMs: 100 };

const ATTACKS: Readonly<Record<string, (socket: WebSocket) => void>> = {
  '10,000 messages at once': (socket) => {
    for (let n = 0; n < FLOOD; n++) socket.send(unknown({ n }));
  },
  '10,000 pings, each when the one before is answered': (socket) => {
    let left = FLOOD;
    const ping = () => left-- > 0 && socket.ping();
    socket.on('pong', ping);
    ping();
  },
  '10,000 pongs that were not asked for': (socket) => {
    for (let n = 0; n < FLOOD; n++) socket.pong();
  },
  'a message of more than 1 MiB': (socket) => socket.send(unknown({ text: 'x'.repeat(1024 * 1024) })),
  'a message with 20,000 words': (socket) => socket.send(unknown({ words: Array(20_000).fill(word) })),
  'long messages of 16 MiB in all': (socket) => {
    for (let n = 0; n < 32; n++) socket.send(unknown({ text: 'x'.repeat(1024 * 1024 - 100) }));
  },
};

let attack: (socket: WebSocket) => void;
let baseUrl: string;
let close: () => Promise<void>;
let closed: number;
beforeEach(async () => {
  closed = 0;
  const server = createServer();
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.on('close', () => closed++);
    attack(socket);
  });
  const listening = await listenOnLoopback(server);
  baseUrl = `http://127.0.0.1:${listening.port}`;
  close = listening.close;
});
afterEach(() => close());

function failureOf(connect: Connect): Promise<ModelError> {
  return new Promise((resolve) => {
    const connection = connect(baseUrl, resolve);
    onTestFinished(() => connection.close());
  });
}

describe.each(Object.entries(VENDORS))('%s', (_, connect) => {
  test.each(Object.entries(ATTACKS))('fails, and is left, when it sends %s', async (_attack, send) => {
    attack = send;
    const threadMs = threadTime();
    const startedMs = threadMs();
    expect(await failureOf(connect)).toMatchObject({ code: 'model_malformed' });
    expect(threadMs() - startedMs).toBeLessThan(MAX_BUSY_MS);
    await expect.poll(() => closed).toBe(1);
  });
});

describe('A recognizer', () => {
  const tell = (socket: WebSocket, message: object) => socket.send(JSON.stringify(message));
  const connect = VENDORS['custom recognition'];

  test('fails when a turn has more text than a person says', async () => {
    attack = (socket) => tell(socket, { type: 'partial', text: 'word '.repeat(20_000) });
    expect(connect && (await failureOf(connect))).toMatchObject({
      code: 'model_malformed',
      message: 'custom tells a turn that does not end',
    });
  });

  test('may send the words of a long turn, ten times a second', async () => {
    const words = Array(1500).fill(word);
    attack = async (socket) => {
      for (let n = 0; n < 30; n++) tell(socket, { type: 'partial', text: 'word '.repeat(1500), words });
      socket.close(4000, 'served');
    };
    expect(connect && (await failureOf(connect))).toMatchObject({
      message: expect.stringContaining('served'),
    });
  });
});

test('A synthesizer fails when it tells words without end', async () => {
  attack = (socket) =>
    socket.once('message', (data) => {
      const { id } = JSON.parse(String(data));
      const words = Array(1500).fill(word);
      for (let n = 0; n < 10; n++) socket.send(JSON.stringify({ type: 'words', id, words }));
    });
  const connect = VENDORS['custom synthesis'];
  expect(connect && (await failureOf(connect))).toMatchObject({ message: 'custom tells words without end' });
});
