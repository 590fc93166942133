import { createServer, type IncomingMessage } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../../src/base/values/clock.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { SynthesisEvent } from '../../../src/models/ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../../../src/models/ports/textToSpeech.ts';
import { createDial } from '../../../src/models/sockets/dial.ts';
import { listenOnLoopback } from '../../support/loopbackServer.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import {
  cartesia,
  deepgram,
  elevenLabs,
  SCRIPTED_VENDORS,
  type ScriptedVendor,
  type VendorSpeech,
  WORD_MS,
  WORD_SAMPLES,
} from './support/scriptedVendors.ts';

const KEY = 'key-of-the-test';

interface Options {
  readonly clock?: Clock;
  readonly key?: string;
  readonly status?: number;
  readonly onWords?: VendorSpeech['onWords'];
  readonly delayMs?: number;
  readonly isSlowToClose?: boolean;
  /** The vendor's own. */
  readonly options?: unknown;
  /** That the connection is made for. */
  readonly voice?: SpokenVoice;
  readonly onSocket?: (socket: WebSocket, count: number) => void;
}

async function startVendor(vendor: ScriptedVendor, options: Options = {}) {
  const { onWords = (_id, _words, say) => say(), clock = systemClock, delayMs = 0 } = options;
  const server = createServer();
  const verifyClient = (
    { req }: { req: IncomingMessage },
    callback: (isAccepted: boolean, status?: number) => void,
  ) =>
    void setTimeout(
      () => callback(vendor.isAuthorized(req, KEY) && options.status === undefined, options.status ?? 401),
      delayMs,
    );
  const accepting = new WebSocketServer({ server, verifyClient });
  const received: string[] = [];
  const sockets: WebSocket[] = [];
  const urls: string[] = [];
  const cancelled: string[] = [];
  accepting.on('connection', (socket, request) => {
    sockets.push(socket);
    urls.push(request.url ?? '');
    socket.on('message', (data) => received.push(String(data)));
    options.onSocket?.(socket, sockets.length);
    vendor.serve(socket, { onWords, cancelled, isSlowToClose: options.isSlowToClose });
  });
  const { port, close } = await listenOnLoopback(server);
  onTestFinished(close);
  const baseUrl = `http://127.0.0.1:${port}`;
  const synthesizer = vendor.create({
    baseUrl,
    apiKey: options.key ?? KEY,
    options: options.options,
    dial: createDial(undefined),
    clock,
  });
  onTestFinished(() => synthesizer.close());
  const connection = synthesizer.connect(options.voice);
  const open = (voice: SpokenVoice = {}) => {
    const events: SynthesisEvent[] = [];
    const stream = connection.speak(voice, (event) => void events.push(event));
    return { ...stream, stream, events };
  };
  return { received, sockets, urls, cancelled, connection, open };
}

/** The first letters of what was heard, one for each word. */
function heard(events: readonly SynthesisEvent[]): string {
  let letters = '';
  let length = 0;
  for (const event of events) {
    if (event.type !== 'samples') continue;
    const first = (WORD_SAMPLES - (length % WORD_SAMPLES)) % WORD_SAMPLES;
    for (let at = first; at < event.samples.length; at += WORD_SAMPLES)
      letters += String.fromCharCode(event.samples[at] ?? 0);
    length += event.samples.length;
  }
  return length % WORD_SAMPLES === 0 ? letters : `${letters} and a part`;
}
const last = (events: readonly SynthesisEvent[]) => events.at(-1);
const done = (events: readonly SynthesisEvent[]) => expect.poll(() => last(events)?.type).toBe('done');
const failure = (events: readonly SynthesisEvent[]) => {
  const event = last(events);
  return event?.type === 'failed' ? event.error : undefined;
};

describe.each(SCRIPTED_VENDORS)('$name', (vendor) => {
  test('speaks words as they are written, to the last sample, with their times', async () => {
    const { open, sockets } = await startVendor(vendor);
    const { stream, events } = open({ language: 'en', speed: 5 });
    for (const text of ['Hello ', 'there. ', 'All ', 'done.']) stream.write(text);
    stream.end();
    await done(events);
    expect(heard(events)).toBe('HtAd');
    expect(sockets).toHaveLength(1);
    const words = events.flatMap((event) => (event.type === 'words' ? event.words : []));
    const times = ['Hello', 'there.', 'All', 'done.'].map((word, index) => ({
      word,
      startMs: index * WORD_MS,
      endMs: (index + 1) * WORD_MS,
    }));
    expect(
      words.map((word) => ({ ...word, startMs: Math.round(word.startMs), endMs: Math.round(word.endMs) })),
    ).toEqual(vendor.hasWordTimes ? times : []);
  });

  test('is cancelled at once, and the next text has none of the cancelled one', async () => {
    const late: (() => void)[] = [];
    const { open, cancelled, sockets } = await startVendor(vendor, {
      // A text that hears nothing for a second leaves its connection, as one on a busy machine would.
      clock: createSimulatedClock(),
      onWords: (_id, words, say) => (words[0] === 'Old' ? late.push(say) : say()),
    });
    const old = open();
    old.stream.write('Old ');
    await expect.poll(() => late.length).toBe(1);
    old.stream.cancel();
    const next = open();
    for (const say of late) say();
    next.stream.write('New.');
    next.stream.end();
    await done(next.events);
    expect(heard(next.events)).toBe('N');
    expect(old.events).toEqual([]);
    expect(cancelled).toHaveLength(1);
    expect(sockets).toHaveLength(1);
  });

  test('reports a rate limit as retryable, without the words', async () => {
    let isBusy = true;
    const { open, sockets } = await startVendor(vendor, {
      onWords: (id, _words, say) => {
        const socket = sockets.at(-1);
        if (isBusy && socket) vendor.rateLimit(socket, id);
        else say();
      },
    });
    const { stream, events } = open();
    stream.write('Hello there. ');
    await expect.poll(() => failure(events)).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(String(failure(events))).not.toContain('Hello');
    isBusy = false;
    const next = open();
    next.stream.write('Again.');
    next.stream.end();
    await done(next.events);
    expect(heard(next.events)).toBe('A');
  });

  test.each([
    [401, 'model_rejected'],
    [429, 'model_unavailable'],
    [503, 'model_unavailable'],
  ])('reports the answer %i to the connection', async (status, code) => {
    const { open } = await startVendor(vendor, status === 401 ? { key: 'wrong' } : { status });
    const { stream, events } = open();
    stream.write('Hello. ');
    await expect.poll(() => failure(events)).toMatchObject({ code });
    expect(String(failure(events))).not.toMatch(/wrong|key-of-the-test|Hello/);
  });

  test('fails a text whose connection is lost in the middle, and connects again for the next', async () => {
    const { open, sockets } = await startVendor(vendor, {
      onWords: (_id, words, say) => {
        say();
        if (words[0] === 'lost') sockets[0]?.terminate();
      },
    });
    const { stream, events } = open();
    stream.write('Word ');
    stream.write('lost ');
    await expect.poll(() => failure(events)).toMatchObject({ code: 'model_unavailable' });
    stream.write('more ');
    stream.end();
    const next = open();
    next.stream.write('Next.');
    next.stream.end();
    await done(next.events);
    expect(heard(next.events)).toBe('N');
    expect(sockets).toHaveLength(2);
  });

  test('ignores a message that it does not know', async () => {
    const { open } = await startVendor(vendor, {
      onSocket: (socket) => socket.once('message', () => socket.send(vendor.unknown)),
    });
    const { stream, events } = open();
    stream.write('Hello.');
    stream.end();
    await done(events);
    expect(heard(events)).toBe('H');
  });

  test.each(vendor.garbage)('fails as malformed after %j', async (garbage) => {
    const { open } = await startVendor(vendor, {
      onSocket: (socket) => socket.once('message', () => socket.send(garbage)),
    });
    const { stream, events } = open();
    stream.write('Hello ');
    await expect.poll(() => failure(events)).toMatchObject({ code: 'model_malformed' });
    // A parser quotes the message, which may hold what was said.
    expect(failure(events)?.cause).not.toBeInstanceOf(SyntaxError);
  });

  test('loses nothing of a text that is written before a slow connection is open', async () => {
    const { open } = await startVendor(vendor, { delayMs: 150 });
    const { stream, events } = open();
    stream.write('Hello there.');
    stream.end();
    await done(events);
    expect(heard(events)).toBe('Ht');
  });

  test('makes a connection that the vendor ended while it was idle again, before the next text', async () => {
    const clock = createSimulatedClock();
    const { open, sockets } = await startVendor(vendor, { clock });
    await expect.poll(() => sockets.length).toBe(1);
    const { stream, events } = open();
    stream.write('One.');
    stream.end();
    await done(events);
    clock.advance(300_000);
    sockets[0]?.close(1000);
    await expect.poll(() => sockets.length).toBe(2);
    sockets[1]?.close(1000);
    await expect.poll(() => sockets[1]?.readyState).toBe(3);
    expect(sockets).toHaveLength(2);
  });

  test('holds a vendor back whose samples are not wanted, and other texts go on', async () => {
    const { open } = await startVendor(vendor, {
      onWords: (_id, words, say) => {
        for (let n = 0; n < (words[0] === 'Flood' ? 40 : 1); n++) say();
      },
    });
    const flood = open();
    flood.stream.write('Quiet ');
    await expect.poll(() => heard(flood.events)).toBe('Q');
    flood.stream.pause();
    flood.stream.write('Flood ');
    const other = open();
    other.stream.write('Other.');
    other.stream.end();
    await done(other.events);
    expect(heard(other.events)).toBe('O');
    expect(heard(flood.events)).toBe('Q');
    flood.stream.resume();
    flood.stream.end();
    await done(flood.events);
    expect(heard(flood.events)).toBe(`Q${'F'.repeat(40)}`);
  });
});

test('ElevenLabs has voice, model and language in the address, the speed in its range, and a keep-alive', async () => {
  const clock = createSimulatedClock();
  const voice = {
    voice: 'mia/1',
    model: 'eleven_turbo_v2_5',
    language: 'zh-TW',
    speed: 2,
  };
  const { open, urls, received } = await startVendor(elevenLabs, { clock, voice });
  await expect.poll(() => urls.length).toBe(1);
  const { stream, events } = open(voice);
  stream.write('你好。');
  stream.end();
  await done(events);
  expect(urls).toHaveLength(1);
  expect(urls[0]).toContain('/v1/text-to-speech/mia%2F1/multi-stream-input?model_id=eleven_turbo_v2_5');
  expect(urls.at(-1)).toContain('language_code=zh');
  expect(received[0]).toContain('"voice_settings":{"speed":1.2}');
  expect(events.find(({ type }) => type === 'words')).toMatchObject({
    words: [{ word: '你' }, { word: '好' }, { word: '。' }],
  });
  clock.advance(10_000);
  await expect.poll(() => received.at(-1)).toBe('{"text":""}');
});

test('Cartesia gives a text another context where the vendor has ended the first one', async () => {
  const { open, sockets, received } = await startVendor(cartesia);
  const { stream, events } = open({ voice: 'mia', language: 'de-AT', speed: 0.5 });
  stream.write('One ');
  await expect.poll(() => heard(events)).toBe('O');
  sockets[0]?.send(JSON.stringify({ type: 'done', done: true, status_code: 206, context_id: 'text-1' }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  stream.write('Two.');
  stream.end();
  await done(events);
  expect(heard(events)).toBe('OT');
  expect(received.map((text) => JSON.parse(text).context_id)).toEqual(['text-1', 'text-1.2', 'text-1.2']);
  expect(JSON.parse(received[0] ?? '')).toMatchObject({
    voice: { mode: 'id', id: 'mia' },
    language: 'de',
    generation_config: { speed: 0.6 },
    continue: true,
  });
  const words = events.flatMap((event) => (event.type === 'words' ? event.words : []));
  expect(words.map(({ startMs }) => startMs)).toEqual([0, WORD_MS]);
});

test.each([
  ['ends after the vendor has ended its context', ['One. ']],
  ['has no words', []],
  ['has only a space', [' ']],
])('Cartesia is sent no empty transcript for a text that %s', async (_what, words) => {
  const { open, sockets, received } = await startVendor(cartesia);
  const { stream, events } = open();
  for (const text of words) stream.write(text);
  if (words[0]?.trim()) {
    await expect.poll(() => heard(events)).toBe('O');
    sockets[0]?.send(JSON.stringify({ type: 'done', done: true, status_code: 206, context_id: 'text-1' }));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  stream.end();
  await done(events);
  expect(received.map((text) => JSON.parse(text).transcript)).toEqual(words.filter((text) => text.trim()));
});

test('ElevenLabs has another connection before the contexts that are closing are too many', async () => {
  const { open, sockets, cancelled } = await startVendor(elevenLabs, {
    clock: createSimulatedClock(),
    isSlowToClose: true,
  });
  for (let n = 0; n < 6; n++) {
    const { stream, events } = open();
    stream.write('Hello. ');
    await expect.poll(() => heard(events)).toBe('H');
    stream.cancel();
  }
  await expect.poll(() => cancelled.length).toBe(6);
  expect(sockets).toHaveLength(2);
});

test('Deepgram has a connection for each voice and pace, and leaves the one that is idle', async () => {
  const { open, urls, sockets } = await startVendor(deepgram);
  await expect.poll(() => sockets.length).toBe(1);
  const first = open({ voice: 'aura-2-apollo-en', speed: 2 });
  first.stream.write('One.');
  first.stream.end();
  await done(first.events);
  expect(urls.at(-1)).toContain('model=aura-2-apollo-en&encoding=linear16&sample_rate=24000&speed=1.5');
  await expect.poll(() => sockets[0]?.readyState).toBe(3);
});

test('A connection that never answered is left with the text that was cancelled', async () => {
  const clock = createSimulatedClock();
  const { open, sockets } = await startVendor(cartesia, {
    clock,
    onWords: (_id, _words, say) => sockets.length > 1 && say(),
  });
  const lost = open();
  lost.stream.write('Hello ');
  await expect.poll(() => sockets.length).toBe(1);
  clock.advance(1500);
  lost.stream.cancel();
  const next = open();
  next.stream.write('Next.');
  next.stream.end();
  await done(next.events);
  expect(heard(next.events)).toBe('N');
});

test.each([
  [elevenLabs, { stability: 0.4 }, '"voice_settings":{"stability":0.4'],
  [elevenLabs, { apply_text_normalization: 'off' }, 'apply_text_normalization=off'],
  [cartesia, { volume: 1.5, emotion: 'calm' }, '"generation_config":{"volume":1.5,"emotion":"calm"}'],
  [deepgram, { mip_opt_out: true }, 'mip_opt_out=true'],
])('$name is told its options %j', async (vendor, options, told) => {
  const { open, received, urls } = await startVendor(vendor, { options });
  const { stream, events } = open();
  stream.write('Hello ');
  stream.end();
  await done(events);
  expect([...urls, ...received].join('\n')).toContain(told);
  await expect(startVendor(vendor, { options: { callback: 'https://example.test' } })).rejects.toThrow(
    /callback/,
  );
});
