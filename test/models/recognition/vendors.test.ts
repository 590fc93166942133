import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type {
  RecognitionEvent,
  StreamingSpeechToText,
} from '../../../src/models/ports/streamingSpeechToText.ts';
import { createRecognizerChain } from '../../../src/models/recognition/recognizerChain.ts';
import { createDial } from '../../../src/models/sockets/dial.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { RECOGNITION_PROTOCOLS, type RecognitionVendor } from '../support/recognitionVendors.ts';
import {
  type RecognitionScript,
  type ScriptedRecognitionServer,
  startRecognitionServer,
} from '../support/scriptedRecognitionServer.ts';

const KEY = 'secret-key';
const FRAME = 160;

/** Connects a vendor, through a chain where told, to a server that plays its part. */
async function rig(vendor: RecognitionVendor, script: RecognitionScript = {}, isChained = false) {
  const { isAudio } = vendor;
  const server = await startRecognitionServer({
    ...(isAudio ? { isAudio } : {}),
    onOpen: () => server.send(...vendor.greeting),
    ...script,
  });
  const clock = createSimulatedClock();
  const made = vendor.create({ baseUrl: server.baseUrl, apiKey: KEY, dial: createDial(undefined), clock });
  const recognizer: StreamingSpeechToText = isChained
    ? createRecognizerChain([{ model: made, name: made.name }], { clock, onFallback: () => undefined })
    : made;
  const events: RecognitionEvent[] = [];
  const options = { sampleRateHz: 8000, language: 'en', keyterms: ['Callway', 'Ana'] };
  const connection = recognizer.connect(options, (event) => void events.push(event));
  const push = (frames: number) => {
    for (let n = 0; n < frames; n++) connection.push(new Int16Array(FRAME).fill(1000));
  };
  const until = (type: RecognitionEvent['type']) =>
    expect.poll(() => events.map((event) => event.type)).toContain(type);
  return { server, clock, connection, events, push, until };
}

const shown = (event: RecognitionEvent) =>
  'transcript' in event ? `${event.type} ${event.transcript.text}` : event.type;

/** Milliseconds of audio that a server received, at 16 bits. */
function heardMs(server: ScriptedRecognitionServer, vendor: RecognitionVendor): number {
  const [rateHz, bytesOf] = vendor.isAudio
    ? [24_000, (audio: Buffer | string) => Buffer.from(JSON.parse(String(audio)).audio, 'base64').length]
    : [8000, (audio: Buffer | string) => audio.length];
  return server.audio.reduce((sum, audio) => sum + (bytesOf(audio) / 2 / rateHz) * 1000, 0);
}

describe.each(RECOGNITION_PROTOCOLS.map((vendor) => [vendor.title, vendor] as const))(
  '%s',
  (_title, vendor) => {
    test('is asked by its protocol, and hears the audio in its chunks', async () => {
      const { server, push, connection, until } = await rig(vendor);
      push(50);
      await until('connected');
      await expect.poll(() => heardMs(server, vendor)).toBeGreaterThan(900);
      const [request] = server.requests;
      expect(request?.url?.startsWith(vendor.path)).toBe(true);
      expect(request?.headers.authorization).toBe(vendor.authorization);
      const configured = decodeURIComponent(request?.url ?? '') + JSON.stringify(server.messages[0] ?? '');
      for (const part of vendor.configuration) expect(configured).toContain(part);
      expect(configured).not.toContain(KEY);
      connection.close();
      if (vendor.goodbye !== undefined)
        await expect.poll(() => server.messages.at(-1)).toEqual(vendor.goodbye);
    });

    test('tells the words and turns of the caller', async () => {
      const { server, events, until } = await rig(vendor);
      await until('connected');
      server.send(vendor.unknown, ...vendor.turn);
      await expect.poll(() => events.length).toBe(vendor.events.length + 1);
      expect(events.slice(1).map(shown)).toEqual(vendor.events);
    });

    test('is kept open through silence', async () => {
      const { server, clock, events, push, until } = await rig(vendor);
      await until('connected');
      clock.advance(9000);
      push(10);
      await expect.poll(() => server.audio.length).toBeGreaterThan(0);
      if (vendor.keepAlive) expect(server.messages).toContainEqual(vendor.keepAlive);
      expect(events).toHaveLength(1);
    });

    test.each([
      ['a rate limit', vendor.rateLimit, 'model_unavailable', true],
      ['a wrong key', vendor.wrongKey(KEY), 'model_rejected', false],
      ['garbage', '{"transcript": my card is', 'model_malformed', true],
      ['a message without its contents', vendor.malformed, 'model_malformed', true],
    ])('fails after %s, and tells neither key nor words', async (_what, message, code, retryable) => {
      const { server, events, until } = await rig(vendor);
      await until('connected');
      server.send(message);
      await until('failed');
      const failed = events.at(-1);
      expect(failed).toMatchObject({ error: { code, retryable } });
      const { error } = failed as Extract<RecognitionEvent, { type: 'failed' }>;
      expect(`${error.message} ${String(error.cause)}`).not.toMatch(/secret-key|my card/);
    });

    test.each([
      [401, 'model_rejected', false],
      [429, 'model_unavailable', true],
      [503, 'model_unavailable', true],
    ])('fails when the handshake is refused with %i', async (status, code, retryable) => {
      const { events, until } = await rig(vendor, { refuseWith: status });
      await until('failed');
      expect(events).toMatchObject([{ error: { code, retryable } }]);
    });

    test('is left when it does not connect within 1.5 s', async () => {
      const { clock, server, events } = await rig(vendor, { isSlow: true }, true);
      await expect.poll(() => server.requests.length).toBe(1);
      clock.advance(1500);
      expect(events).toMatchObject([{ type: 'failed', error: { code: 'model_unavailable' } }]);
    });

    test('hears a word again when the connection is lost within it', async () => {
      const { server, clock, events, push, until } = await rig(vendor, {}, true);
      await until('connected');
      clock.advance(6000);
      push(50);
      server.send(vendor.firstWords);
      await until('interim');
      await expect.poll(() => heardMs(server, vendor)).toBeGreaterThan(900);
      server.audio.length = 0;
      server.sockets[0]?.terminate();
      await expect.poll(() => server.sockets.length).toBe(2);
      await expect.poll(() => heardMs(server, vendor)).toBeGreaterThan(900);
      server.send(...vendor.turn);
      await until('final');
      expect(events.map(({ type }) => type)).not.toContain('failed');
    });
  },
);

test.each(
  RECOGNITION_PROTOCOLS.filter(({ sessionEndsMs }) => sessionEndsMs !== undefined).map(
    (vendor) => [vendor.title, vendor] as const,
  ),
)('%s has a new session before its own ends', async (_title, vendor) => {
  const { server, clock, events, push, until } = await rig(vendor, {}, true);
  await until('connected');
  server.send(...vendor.turn);
  await until('final');
  clock.advance((vendor.sessionEndsMs ?? 0) - 60_000);
  await expect.poll(() => server.sockets.length).toBe(2);
  await expect.poll(() => server.sockets[0]?.readyState).toBe(WebSocket.CLOSED);
  push(10);
  const told = events.length;
  server.send(...vendor.turn);
  await expect.poll(() => events.slice(told).map(shown)).toEqual(vendor.events);
});

test.each(
  RECOGNITION_PROTOCOLS.flatMap((vendor) =>
    vendor.finalize ? [[vendor.title, vendor, vendor.finalize] as const] : [],
  ),
)('%s answers a request for the final words', async (_title, vendor, { message, answers, text }) => {
  const { server, connection, events, push, until } = await rig(vendor);
  await until('connected');
  push(10);
  server.send(vendor.firstWords);
  await until('interim');
  expect(connection.finalize()).toBe(true);
  await expect.poll(() => server.messages).toContainEqual(message);
  server.send(...answers);
  await until('final');
  expect(events.find(({ type }) => type === 'final')).toMatchObject({ transcript: { text } });
});
