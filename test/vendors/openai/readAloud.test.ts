import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { SynthesisEvent } from '../../../src/models/ports/streamingTextToSpeech.ts';
import { takesWords } from '../../../src/models/ports/synthesizer.ts';
import type { SpokenVoice } from '../../../src/models/ports/textToSpeech.ts';
import { createTextToSpeech } from '../../../src/vendors/openai/provider.ts';
import { listenOnLoopback } from '../../support/loopbackServer.ts';

interface Asked {
  readonly type: string;
  readonly event_id: string;
  readonly response: {
    readonly metadata: { readonly reading: string };
    readonly input: readonly { readonly content: readonly { readonly text: string }[] }[];
    readonly [field: string]: unknown;
  };
}

/** A Realtime server that does what the test says with each response that it is asked for. */
async function startVendor(
  onResponse: (socket: WebSocket, asked: Asked, text: string) => void,
  options?: unknown,
) {
  const server = createServer();
  const received: Asked[] = [];
  const requests: string[] = [];
  new WebSocketServer({ server }).on('connection', (socket, { url, headers }) => {
    requests.push(`${url} ${headers.authorization}`);
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Asked;
      received.push(message);
      if (message.type !== 'response.create') return;
      onResponse(socket, message, message.response.input[0]?.content[0]?.text ?? '');
    });
  });
  const { port, close } = await listenOnLoopback(server);
  onTestFinished(close);
  const vendor = createTextToSpeech({
    credentials: { baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key' },
    model: 'gpt-realtime-2.1-mini',
    voice: 'marin',
    options,
    clock: systemClock,
    timeoutMs: 1000,
    searchPath: '',
    warn: () => undefined,
  });
  if (!takesWords(vendor)) throw new Error('it takes whole texts');
  onTestFinished(() => vendor.close());
  const connection = vendor.connect();
  const open = (voice: SpokenVoice = {}) => {
    const events: SynthesisEvent[] = [];
    return { ...connection.speak(voice, (event) => void events.push(event)), events };
  };
  return { received, requests, open };
}

const tell = (socket: WebSocket, message: object) => socket.send(JSON.stringify(message));
const start = (socket: WebSocket, id: string, { response: { metadata } }: Asked) =>
  tell(socket, { type: 'response.created', response: { id, status: 'in_progress', metadata } });
/** Two samples, the code of the text's first letter. */
const say = (socket: WebSocket, response_id: string, text: string) => {
  const delta = Buffer.from(Int16Array.of(text.charCodeAt(0), text.charCodeAt(0)).buffer).toString('base64');
  tell(socket, { type: 'response.output_audio.delta', response_id, item_id: 'i', delta });
};
const end = (socket: WebSocket, id: string, status = 'completed') =>
  tell(socket, { type: 'response.done', response: { id, status } });
const heard = (events: readonly SynthesisEvent[]) =>
  events
    .flatMap((event) => (event.type === 'samples' ? [String.fromCharCode(event.samples[0] ?? 0)] : []))
    .join('');

test('Each sentence is a response of its own, in the order of the text', async () => {
  const late: (() => void)[] = [];
  const { open, received, requests } = await startVendor(
    (socket, asked, text) => {
      const id = `r-${text}`;
      start(socket, id, asked);
      tell(socket, { type: 'rate_limits.updated' });
      const speak = () => {
        say(socket, id, text);
        end(socket, id);
      };
      // The first one is slower.
      if (text.startsWith('One')) late.push(speak);
      else speak();
    },
    { instructions: 'Calmly.' },
  );
  const text = open({ language: 'de', voice: 'cedar', speed: 2 });
  for (const words of ['One ', 'two. ', 'Three. ', 'Four']) text.write(words);
  text.end();
  await expect.poll(() => received.length).toBe(4);
  late[0]?.();
  await expect.poll(() => text.events.at(-1)).toEqual({ type: 'done' });
  expect(heard(text.events)).toBe('OTF');
  expect(requests).toEqual(['/v1/realtime?model=gpt-realtime-2.1-mini Bearer key']);
  const [update, first] = received;
  expect(update).toMatchObject({ type: 'session.update', session: { audio: { output: { speed: 1.5 } } } });
  expect(first?.response).toMatchObject({
    conversation: 'none',
    output_modalities: ['audio'],
    instructions: expect.stringMatching(/word for word.*Calmly\. Speak German\.$/),
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'One two.' }] }],
    audio: { output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'cedar' } },
  });
});

test('A text without words asks for nothing, and one that is cancelled ends its response', async () => {
  const { open, received } = await startVendor((socket, asked, text) => {
    start(socket, 'r', asked);
    say(socket, 'r', text);
  });
  const empty = open();
  empty.end();
  expect(empty.events).toEqual([{ type: 'done' }]);
  const text = open();
  text.write('Hello. ');
  await expect.poll(() => heard(text.events)).toBe('H');
  text.cancel();
  await expect.poll(() => received.at(-1)).toEqual({ type: 'response.cancel', response_id: 'r' });
  expect(received).toHaveLength(2);
});

test.each<[string, (socket: WebSocket, asked: Asked) => void, string]>([
  [
    'a response that failed',
    (socket, asked) => {
      start(socket, 'r', asked);
      end(socket, 'r', 'failed');
    },
    'model_unavailable',
  ],
  [
    'an error of its response',
    (socket, { event_id }) => tell(socket, { type: 'error', error: { type: 'server_error', event_id } }),
    'model_unavailable',
  ],
  [
    'a wrong key',
    (socket) =>
      tell(socket, { type: 'error', error: { type: 'invalid_request_error', code: 'invalid_api_key' } }),
    'model_rejected',
  ],
  ['garbage', (socket) => socket.send('{"type":'), 'model_malformed'],
])('A text fails after %s', async (_what, answer, code) => {
  const { open } = await startVendor(answer);
  const text = open();
  text.write('Hello. ');
  await expect.poll(() => text.events.at(-1)).toMatchObject({ type: 'failed', error: { code } });
});
