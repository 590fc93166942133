import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import { wavHeader } from '../../../src/media/wav.ts';
import { createOpenAiEndpoint, type OpenAiEndpoint } from '../../../src/vendors/openai/endpoint.ts';
import { createOpenAiSpeechToText } from '../../../src/vendors/openai/speechToText.ts';
import { createOpenAiTextToSpeech } from '../../../src/vendors/openai/textToSpeech.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';

const forever = new AbortController().signal;
type Answer = (request: IncomingMessage, body: Buffer, response: ServerResponse) => void;

let server: Server;
let endpoint: OpenAiEndpoint;
let answers: Answer[];
let bodies: { path: string; type: string; body: Buffer }[];
let retries: string[];

beforeEach(async () => {
  answers = [];
  bodies = [];
  retries = [];
  server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    bodies.push({ path: request.url ?? '', type: request.headers['content-type'] ?? '', body });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(request, body, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  endpoint = createOpenAiEndpoint({ apiKey: 'sk-test', baseUrl: `http://127.0.0.1:${port}/v1` });
});
afterEach(async () => {
  await endpoint.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const streamDeps = (timeoutMs = 5000) => ({
  clock: systemClock,
  timeoutMs,
  onRetry: (error: Error) => retries.push(error.message),
});
const failing =
  (status: number): Answer =>
  (_request, _body, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'no', type: 'x', code: null } }));
  };

const document =
  (contentType: string, text: string): Answer =>
  (_request, _body, response) => {
    response.writeHead(200, { 'content-type': contentType }).end(text);
  };

describe('OpenAI speech synthesis', () => {
  const tts = (timeoutMs?: number, model = 'tts-x') =>
    createOpenAiTextToSpeech({ endpoint, model, voice: 'alloy', ...streamDeps(timeoutMs) });
  const sending =
    (...pieces: number[][]): Answer =>
    async (_request, _body, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      for (const piece of pieces) {
        response.write(Buffer.from(piece));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      response.end();
    };

  test('takes the voice, the model and the speed of a text', async () => {
    answers = [sending([0x01, 0x00])];
    const voice = { voice: 'coral', model: 'gpt-tts', speed: 1.5, language: 'de' };
    await arrayFromAsync(tts().synthesize({ text: 'Hello.', ...voice }, forever));
    expect(JSON.parse(String(bodies[0]?.body))).toMatchObject({
      voice: 'coral',
      model: 'gpt-tts',
      speed: 1.5,
      instructions: 'Speak German.',
    });
  });

  test('requests PCM and joins samples that chunks split', async () => {
    answers = [sending([0x01, 0x00, 0xff], [0xff, 0x00, 0x80], [0x07])];
    const samples = await arrayFromAsync(tts().synthesize({ text: 'Hello.' }, forever));
    expect(samples.flatMap((chunk) => [...chunk])).toEqual([1, -1, -32_768]);
    expect(bodies[0]?.path).toBe('/v1/audio/speech');
    expect(JSON.parse(String(bodies[0]?.body))).toEqual({
      model: 'tts-x',
      voice: 'alloy',
      input: 'Hello.',
      response_format: 'pcm',
    });
  });

  test.each([
    ['gpt-4o-mini-tts', 'zh-TW', 'Speak Chinese (Taiwan).'],
    ['gpt-4o-mini-tts', 'de', 'Speak German.'],
    ['gpt-4o-mini-tts', 'no tag', 'Speak no tag.'],
    ['gpt-4o-mini-tts', undefined, undefined],
    // These refuse instructions.
    ['tts-1', 'de', undefined],
  ])('%s is told the language %s: %s', async (model, language, instructions) => {
    answers = [sending([1, 0])];
    const request = { text: 'Hi.', ...(language === undefined ? {} : { language }) };
    await arrayFromAsync(tts(undefined, model).synthesize(request, forever));
    expect(JSON.parse(String(bodies[0]?.body)).instructions).toBe(instructions);
  });

  test.each([
    [24_000, 1, 240],
    [22_050, 1, 261],
    [48_000, 2, 120],
    [8000, 1, 720],
  ])(
    'takes a WAV file of %i Hz and %i channels that was sent in place of PCM',
    async (sampleRateHz, channels, length) => {
      const samples = new Int16Array(240 * channels).fill(1000);
      const header = wavHeader({ sampleRateHz, channels: channels as 1 | 2 }, samples.byteLength);
      const file = [...header, ...new Uint8Array(samples.buffer)];
      answers = [sending(file.slice(0, 3), file.slice(3, 50), file.slice(50))];
      const [speech] = await arrayFromAsync(tts().synthesize({ text: 'Hello.' }, forever));
      expect(speech?.length).toBe(length);
      expect(Math.abs((speech?.[Math.floor(length / 2)] ?? 0) - 1000)).toBeLessThan(20);
    },
  );

  test('retries a failure before the first sample once', async () => {
    answers = [failing(503), sending([1, 0])];
    expect((await arrayFromAsync(tts().synthesize({ text: 'Hi.' }, forever))).length).toBe(1);
    expect(retries).toEqual([expect.stringContaining('503')]);
  });

  test.each([
    ['a second failure', () => [failing(500)], 'model_unavailable', 2],
    ['a refusal', () => [failing(401)], 'model_rejected', 1],
    ['a JSON document', () => [failing(200)], 'model_malformed', 2],
    ['nothing at all', () => [sending()], 'model_malformed', 2],
    ['a page', () => [document('text/html; charset=utf-8', '<html>')], 'model_malformed', 2],
    ['a page that calls itself sound', () => [document('audio/pcm', '<html>')], 'model_malformed', 2],
    ['a WAV file', () => [document('audio/pcm', 'RIFF....WAVE')], 'model_malformed', 2],
  ])('fails for %s', async (_, script, code, attempts) => {
    answers = script();
    await expect(arrayFromAsync(tts().synthesize({ text: 'Hi.' }, forever))).rejects.toMatchObject({ code });
    expect(bodies.length).toBe(attempts);
  });

  test('aborts a response that is longer than the text can be', async () => {
    const left = new Promise<void>((resolve) => {
      answers = [
        (_request, _body, response) => {
          const second = Buffer.alloc(48_000, 1);
          response.writeHead(200, { 'content-type': 'audio/pcm' });
          const timer = setInterval(() => response.write(second), 1);
          response.on('close', () => {
            clearInterval(timer);
            resolve();
          });
        },
      ];
    });
    let samples = 0;
    const listen = async () => {
      for await (const piece of tts().synthesize({ text: 'Four' }, forever)) samples += piece.length;
    };
    await expect(listen()).rejects.toMatchObject({ code: 'model_malformed' });
    await left;
    // Five seconds, and half a second for each letter.
    expect(samples).toBeLessThanOrEqual(7 * 24_000);
    expect(samples).toBeGreaterThan(5 * 24_000);
    expect(bodies.length).toBe(1);
  });

  test('times out on a silent endpoint', async () => {
    answers = [() => undefined];
    await expect(arrayFromAsync(tts(500).synthesize({ text: 'Hi.' }, forever))).rejects.toThrow(
      /did not start to answer within 0.5 s/,
    );
    await expect.poll(() => bodies.length).toBe(2);
  });

  test('ends the request when aborted', async () => {
    const left = new Promise<void>((resolve) => {
      answers = [
        (_request, _body, response) => {
          response.writeHead(200).write(Buffer.alloc(320));
          response.on('close', resolve);
        },
      ];
    });
    const controller = new AbortController();
    const reading = tts().synthesize({ text: 'Hi.' }, controller.signal)[Symbol.asyncIterator]();
    expect((await reading.next()).value?.length).toBe(160);
    const next = reading.next();
    controller.abort(new Error('interrupted'));
    await expect(next).rejects.toThrow('interrupted');
    await left;
  });
});

describe('OpenAI speech recognition', () => {
  const stt = () => createOpenAiSpeechToText({ endpoint, model: 'stt-x', ...streamDeps() });
  const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
  const streaming: Answer = (_request, _body, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event({ type: 'transcript.text.delta', delta: 'I would ' }));
    response.write(event({ type: 'transcript.text.delta', delta: 'like' }));
    response.end(event({ type: 'transcript.text.done', text: 'I would like tea. ' }));
  };

  test('uploads the utterance with hints and streams interim transcripts', async () => {
    answers = [streaming];
    const partials: string[] = [];
    const transcription = stt().openStream({
      sampleRateHz: 8000,
      language: 'zh-TW',
      expectedAnswers: ['yes', 'no'],
      keyterms: ['Callway', 'Ana'],
      onInterim: (text) => partials.push(text),
    });
    transcription.push(Int16Array.of(1, 2));
    transcription.push(Int16Array.of(3));
    expect(await transcription.finalize(forever)).toEqual({ text: 'I would like tea.' });
    expect(partials).toEqual(['I would', 'I would like', 'I would like tea.']);
    const form = await new Response(new Uint8Array(bodies[0]?.body ?? []), {
      headers: { 'content-type': bodies[0]?.type ?? '' },
    }).formData();
    const { file, ...fields } = Object.fromEntries(form);
    expect(fields).toEqual({
      model: 'stt-x',
      response_format: 'json',
      stream: 'true',
      language: 'zh',
      prompt: 'Words that may be said: Callway, Ana. Possible answers: yes; no',
    });
    const wav = Buffer.from(await (file as File).arrayBuffer());
    // 44 bytes of header, whose rate stands at 24; then three samples.
    expect([wav.readUInt32LE(24), wav.subarray(44).toString('hex')]).toEqual([8000, '010002000300']);
  });

  test('tells gpt-transcribe words and languages in its own fields, and is told the language', async () => {
    answers = [document('application/json', '{"text":"Thé.","languages":[{"code":"fr"}]}')];
    const recognizer = createOpenAiSpeechToText({ endpoint, model: 'gpt-transcribe', ...streamDeps() });
    const hints = { keyterms: ['Ana', 'Bo'], languages: ['en', 'fr-CA', 'fr'], expectedAnswers: ['yes'] };
    const transcription = recognizer.openStream({ sampleRateHz: 8000, ...hints });
    expect(await transcription.finalize(forever)).toEqual({ text: 'Thé.', language: 'fr' });
    const { body = Buffer.of(), type = '' } = bodies[0] ?? {};
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    expect([form.getAll('keywords[]'), form.getAll('languages[]'), form.get('prompt')]).toEqual([
      ['Ana', 'Bo'],
      ['en', 'fr'],
      'Possible answers: yes',
    ]);
  });

  test('joins the segments of a server that streams them', async () => {
    answers = [document('text/event-stream', event({ text: ' I would' }) + event({ text: ' like tea.' }))];
    const transcription = stt().openStream({ sampleRateHz: 8000 });
    expect(await transcription.finalize(forever)).toEqual({ text: 'I would like tea.' });
  });

  test('reads a JSON document from an endpoint that does not stream', async () => {
    answers = [
      (_request, _body, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":" Tea, please. "}');
      },
    ];
    const transcription = stt().openStream({ sampleRateHz: 16_000 });
    transcription.push(new Int16Array(320));
    expect(await transcription.finalize(forever)).toEqual({ text: 'Tea, please.' });
  });

  test('returns an empty transcript', async () => {
    answers = [document('application/json', '{"text":""}')];
    expect(await stt().openStream({ sampleRateHz: 8000 }).finalize(forever)).toEqual({ text: '' });
  });

  test('uploads all audio again after a pause', async () => {
    answers = [streaming];
    const transcription = stt().openStream({ sampleRateHz: 8000 });
    transcription.push(new Int16Array(160));
    await transcription.finalize(forever);
    transcription.push(new Int16Array(160));
    await transcription.finalize(forever);
    const [first, second] = bodies.map(({ body }) => body.length);
    expect((second ?? 0) - (first ?? 0)).toBe(320);
  });

  test.each([
    ['a failure', failing(500), 'model_unavailable'],
    ['a page', document('text/html', '<html></html>'), 'model_malformed'],
    ['nothing at all', document('text/event-stream', ''), 'model_malformed'],
    ['a document of another kind', document('application/json', '{}'), 'model_malformed'],
    [
      'words without end',
      document('text/event-stream', event({ type: 'transcript.text.delta', delta: 'word ' }).repeat(801)),
      'model_malformed',
    ],
    [
      'something that is no JSON',
      ((_q, _b, response) => response.end('data: <html>\n\n')) as Answer,
      'model_malformed',
    ],
    [
      'an error in the stream',
      ((_q, _b, response) => response.end(event({ error: { message: 'busy' } }))) as Answer,
      'model_unavailable',
    ],
  ])('fails for %s', async (_, answer, code) => {
    answers = [answer];
    const transcription = stt().openStream({ sampleRateHz: 8000 });
    await expect(transcription.finalize(forever)).rejects.toMatchObject({ code });
  });
});
