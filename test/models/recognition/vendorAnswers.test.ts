import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { RecognitionEvent } from '../../../src/models/ports/streamingSpeechToText.ts';
import { createRecognizerChain } from '../../../src/models/recognition/recognizerChain.ts';
import { createDial } from '../../../src/models/sockets/dial.ts';
import { createDeepgramSpeechToText } from '../../../src/vendors/deepgram/speechToText.ts';
import { createOpenAiRealtimeSpeechToText } from '../../../src/vendors/openai/realtimeSpeechToText.ts';
import { RECOGNITION_VENDORS } from '../support/recognitionVendors.ts';
import {
  type ScriptedRecognitionServer,
  startRecognitionServer,
} from '../support/scriptedRecognitionServer.ts';

async function rig(title: string, options: unknown = {}, language?: string | readonly string[]) {
  const vendor = RECOGNITION_VENDORS.find((each) => each.title === title);
  if (!vendor) throw new Error(`no vendor ${title}`);
  const server = await startRecognitionServer({
    ...(vendor.isAudio ? { isAudio: vendor.isAudio } : {}),
    onOpen: () => server.send(...vendor.greeting),
  });
  const deps = { apiKey: 'secret-key', dial: createDial(undefined), clock: systemClock, options };
  const recognizer = vendor.create({ ...deps, baseUrl: server.baseUrl });
  const events: RecognitionEvent[] = [];
  const connection = recognizer.connect(
    { sampleRateHz: 8000, ...(typeof language === 'string' ? { language } : { languages: language }) },
    (event) => void events.push(event),
  );
  await expect.poll(() => events.length).toBe(1);
  for (let n = 0; n < 50; n++) connection.push(new Int16Array(160));
  return { server, connection, events };
}

/** The address, and the first message, that configure the session. */
async function configurationOf(server: ScriptedRecognitionServer): Promise<string> {
  await expect.poll(() => server.audio.length).toBeGreaterThan(0);
  return `${server.requests[0]?.url} ${JSON.stringify(server.messages[0])}`;
}

const silence = (endSeconds: number) => ({
  type: 'TurnInfo',
  event: 'Update',
  transcript: '',
  audio_window_end: endSeconds,
});
const empty = (endSeconds: number) => ({
  type: 'Results',
  start: 0,
  duration: endSeconds,
  is_final: false,
  channel: { alternatives: [{ transcript: '', words: [] }] },
});

test.each([
  ['deepgram flux', silence(0.4), silence(1)],
  ['deepgram nova', empty(0.4), empty(1)],
  ['soniox', { tokens: [] }, { tokens: [{ text: '<fin>', is_final: true }] }],
  [
    'openai, words while they are spoken',
    { type: 'session.updated' },
    { type: 'error', error: { code: 'input_audio_buffer_commit_empty', message: 'buffer too small' } },
  ],
])('%s answers a request in silence with no words', async (title, before, answer) => {
  const { server, connection, events } = await rig(title);
  expect(connection.finalize()).toBe(true);
  server.send(before, answer);
  await expect.poll(() => events.slice(1)[0]).toEqual({ type: 'final', transcript: { text: '' } });
});

test('AssemblyAI is not asked in silence, since it would not answer', async () => {
  const { connection } = await rig('assemblyai');
  expect(connection.finalize()).toBe(false);
});

test('AssemblyAI is sent no message shorter than it takes', async () => {
  const { server, connection, events } = await rig('assemblyai');
  server.send({ type: 'Turn', turn_order: 0, end_of_turn: false, transcript: 'hello', words: [] });
  await expect.poll(() => events.length).toBe(2);
  connection.push(new Int16Array(160));
  connection.finalize();
  await expect.poll(() => server.messages).toEqual([{ type: 'ForceEndpoint' }]);
  const lengths = new Set(server.audio.map(({ length }) => length / 2 / 8));
  expect(lengths).toEqual(new Set([60]));
});

test('Soniox tells words, their times and the language that was spoken most', async () => {
  const { server, events } = await rig('soniox');
  const token = (text: string, startMs: number, language: string) => ({
    text,
    is_final: true,
    start_ms: startMs,
    end_ms: startMs + 100,
    confidence: 0.8,
    language,
  });
  server.send({
    tokens: [
      token('Gra', 0, 'es'),
      token('cias', 100, 'es'),
      token(' okay', 300, 'en'),
      token('<end>', 400, 'en'),
    ],
  });
  await expect.poll(() => events.length).toBe(3);
  expect(events[1]).toEqual({
    type: 'final',
    transcript: {
      text: 'Gracias okay',
      words: [
        { word: 'Gracias', startMs: 0, endMs: 200 },
        { word: 'okay', startMs: 300, endMs: 400 },
      ],
      confidence: 0.8,
      language: 'es',
    },
  });
});

test.each(RECOGNITION_VENDORS.map(({ title }) => title))(
  '%s refuses options that it does not know',
  async (title) => {
    await expect(rig(title, { callback: 'https://example.test' })).rejects.toThrow(/callback/);
  },
);

test.each([
  ['deepgram flux', 'es-MX', 'model=flux-general-multi', 'language_hint=es'],
  ['deepgram flux', 'en-GB', 'model=flux-general-en', ''],
  ['deepgram nova', undefined, 'model=nova-3', 'language=multi'],
  ['assemblyai', 'es-MX', 'speech_model=universal-streaming-multilingual', 'language_detection=true'],
  ['assemblyai', 'en-GB', 'speech_model=universal-streaming-english', ''],
  ['deepgram flux', ['en', 'es-MX', 'es'], 'model=flux-general-multi', 'language_hint=en&language_hint=es'],
  ['deepgram nova', ['en', 'es'], 'language=multi', ''],
  ['assemblyai', ['en', 'es'], 'speech_model=universal-streaming-multilingual', 'language_detection=true'],
  ['soniox', ['en', 'zh-TW', 'en-GB'], '"language_hints":["en","zh"]'],
  ['assemblyai', 'zh-TW', 'speech_model=universal-3-6-pro', 'language_codes=%5B%22zh%22%5D'],
  [
    'assemblyai',
    ['en', 'zh-TW'],
    'speech_model=universal-3-6-pro',
    'language_codes=%5B%22en%22%2C%22zh%22%5D',
  ],
])('%s hears the language %s with %s %s', async (title, language, ...parts) => {
  const { server } = await rig(title, {}, language);
  const configuration = await configurationOf(server);
  for (const part of parts) expect(configuration).toContain(part);
});

test.each([
  ['zh-TW', '/v1/listen', false],
  ['ko', '/v1/listen', false],
  ['de-AT', '/v2/listen', true],
  [undefined, '/v2/listen', true],
])(
  'Deepgram hears %s by %s where no model is named, in a chain too',
  async (language, path, detectsTurns) => {
    const server = await startRecognitionServer();
    const clock = systemClock;
    const vendor = createDeepgramSpeechToText({
      baseUrl: server.baseUrl,
      dial: createDial(undefined),
      clock,
      options: { numerals: true, eot_threshold: 0.8 },
    });
    const chain = createRecognizerChain([{ model: vendor, name: vendor.name }], {
      clock,
      onFallback: () => undefined,
    });
    const connection = chain.connect({ sampleRateHz: 8000, language }, () => undefined);
    await expect.poll(() => server.requests.length).toBe(1);
    const url = server.requests[0]?.url ?? '';
    expect([url.startsWith(path), url.includes('numerals=true'), chain.detectsTurns]).toEqual([
      true,
      true,
      detectsTurns,
    ]);
    if (!detectsTurns) expect(url).toContain(`model=nova-3`);
    connection.close();
    await vendor.close();
  },
);

test.each([
  [4000, '', false],
  [4001, '', false],
  [4002, '', false],
  [4003, '', false],
  [4101, '', false],
  [1008, 'Invalid API key', false],
  [1008, 'Too many concurrent sessions', true],
  [4008, '', true],
  [4010, '', true],
  [4029, '', true],
  [4031, '', true],
  [4102, '', true],
  [4103, '', true],
  [3005, '', true],
])('AssemblyAI that closes with %i %s is tried again: %s', async (code, reason, retryable) => {
  const { server, events } = await rig('assemblyai');
  server.sockets[0]?.close(code, reason);
  await expect.poll(() => events.at(-1)).toMatchObject({ type: 'failed', error: { retryable } });
});

test.each([
  [
    'deepgram flux',
    { eot_threshold: 1, eot_timeout_ms: 60_000, redact: 'numbers', tag: ['a', 'b'] },
    'tag=a&tag=b',
  ],
  ['assemblyai', { format_turns: true, prompt: 'A hotel.', redact_pii_policies: ['date'] }, '["date"]'],
  [
    'assemblyai',
    { mode: 'min_latency', voice_focus: 'far-field', domain: 'medical-v1' },
    'voice_focus=far-field',
  ],
  ['soniox', { endpoint_sensitivity: 0.5, max_endpoint_delay_ms: 900 }, '"max_endpoint_delay_ms":900'],
])('%s takes its options %j', async (title, options, part) => {
  const { server } = await rig(title, options);
  expect(decodeURIComponent(await configurationOf(server))).toContain(part);
});

test.each([
  ['gpt-transcribe', { keywords: ['Ana'], languages: ['en', 'zh'] }],
  ['gpt-live-transcribe', { keywords: ['Ana'], languages: ['en', 'zh'] }],
  ['gpt-4o-transcribe', { prompt: 'Words that may be said: Ana' }],
  ['gpt-realtime-whisper', {}],
])('OpenAI’s %s is told words and languages as it takes them: %j', async (model, expected) => {
  const server = await startRecognitionServer();
  const deps = { baseUrl: server.baseUrl, dial: createDial(undefined), clock: systemClock };
  const recognizer = createOpenAiRealtimeSpeechToText({ ...deps, model });
  const hints = { sampleRateHz: 8000, keyterms: ['Ana'], languages: ['en', 'zh-TW'] };
  const events: RecognitionEvent[] = [];
  recognizer.connect(hints, (event) => void events.push(event));
  await expect.poll(() => server.messages.length).toBe(1);
  const [update] = server.messages as { session: { audio: { input: { transcription: object } } } }[];
  expect(update?.session.audio.input.transcription).toEqual({ model, ...expected });
  const type = 'conversation.item.input_audio_transcription.completed';
  server.send({ type, item_id: 'one', transcript: '你好', languages: [{ code: 'zh' }] });
  await expect
    .poll(() => events)
    .toContainEqual({ type: 'final', transcript: { text: '你好', language: 'zh' } });
  await recognizer.close();
});
