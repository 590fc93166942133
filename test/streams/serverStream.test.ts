import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';

import { systemClock } from '../../src/base/values/clock.ts';
import type { AudioStreamEvents } from '../../src/conversation/streams/audioStream.ts';
import type { DialectName } from '../../src/dialects/index.ts';
import { acceptStream } from '../../src/streams/acceptStream.ts';
import { MAX_BYTES_BEFORE_START } from '../../src/streams/awaitStart.ts';
import type { ServerStream } from '../../src/streams/serverStream.ts';
import { detectLeaks } from '../support/leaks.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { openSocketPair, type SocketPair } from './support/socketPair.ts';

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

let pair: SocketPair;
let gateway: WebSocket;
beforeEach(async () => {
  pair = await openSocketPair();
  gateway = pair.client;
});
afterEach(() => pair.close());

const deps = {
  clock: systemClock,
  onListenerError: (error: unknown) => {
    throw error;
  },
};
const grantOf = (dialect: DialectName) => ({ projectId: 'p', sessionId: 's', dialect, callId: 'c' });
const send = (message: object) => gateway.send(JSON.stringify(message));
const start = (dialect: DialectName, sampleRate = dialect === 'twilio' ? 8000 : 16_000) => ({
  event: 'start',
  start: {
    streamSid: 'MZ1',
    mediaFormat: { encoding: dialect === 'twilio' ? 'audio/x-mulaw' : 'audio/l16', sampleRate },
    customParameters: { a: 'b' },
  },
});
const closeOf = (socket: WebSocket) =>
  new Promise((resolve) => socket.on('close', (code, reason) => resolve([code, reason.toString()])));

/** The events of a stream in order, audio as plain numbers. */
function eventsOf(stream: ServerStream) {
  const seen: unknown[] = [];
  const waiting: (() => void)[] = [];
  const note = (event: unknown) => {
    seen.push(event);
    for (const check of waiting.splice(0)) check();
  };
  const names: (keyof AudioStreamEvents)[] = ['dtmf', 'hold', 'mark', 'cleared', 'closed'];
  for (const name of names) stream.events.on(name, (value) => note([name, value]));
  stream.events.on('audio', (samples) => note(['audio', [...samples]]));
  return {
    seen,
    async count(count: number) {
      while (seen.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return seen;
    },
  };
}

async function accept(dialect: DialectName): Promise<ServerStream> {
  send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  send(start(dialect));
  const stream = await acceptStream(pair.server, grantOf(dialect), deps);
  if (!stream) throw new Error('no stream');
  return stream;
}

describe('acceptStream', () => {
  test('describes the stream by its start message and its ticket', async () => {
    const stream = await accept('twilio');
    expect(stream.info).toEqual({
      dialect: 'twilio',
      sampleRateHz: 8000,
      projectId: 'p',
      sessionId: 's',
      callId: 'c',
      customParameters: { a: 'b' },
    });
  });

  test('keeps the messages that arrive before the start message, and with it', async () => {
    gateway.send(Buffer.from([1, 0, 2, 0]));
    send(start('callway'));
    gateway.send(Buffer.from([3, 0]));
    send({ event: 'dtmf', dtmf: { digit: '7' } });
    const stream = await acceptStream(pair.server, grantOf('callway'), deps);
    if (!stream) throw new Error('no stream');
    expect(await eventsOf(stream).count(3)).toEqual([
      ['audio', [1, 2]],
      ['audio', [3]],
      ['dtmf', { digit: '7' }],
    ]);
    expect(stream.receivedSamples).toBe(3);
  });

  test('gives a stream at 48 kHz to the voice session at 24 kHz', async () => {
    send({ event: 'start', start: { streamSid: 'MZ1', mediaFormat: { sampleRate: 48_000 } } });
    const stream = await acceptStream(pair.server, grantOf('callway'), deps);
    if (!stream) throw new Error('no stream');
    expect(stream.info.sampleRateHz).toBe(24_000);
    const events = eventsOf(stream);
    gateway.send(new Uint8Array(2 * 960));
    const sent = once(gateway, 'message');
    stream.play(new Int16Array(1000));
    expect(((await sent)[0] as Buffer).length).toBe(2 * 2000);
    stream.mark('m');
    send({ event: 'mark', mark: { name: 'm', position: { playedSamples: 2000, receivedSamples: 960 } } });
    expect(await events.count(2)).toEqual([
      ['audio', new Array(480).fill(0)],
      ['mark', { name: 'm', outcome: 'played', playedSamples: 1000, receivedSamples: 480, bufferDelayMs: 0 }],
    ]);
  });

  test('takes the close of a carrier without a stop message as the end of its call', async () => {
    send({ event: 'websocket:connected', 'content-type': 'audio/l16;rate=16000' });
    const stream = await acceptStream(pair.server, grantOf('vonage'), deps);
    if (!stream) throw new Error('no stream');
    const closed = once(pair.server, 'close');
    gateway.close(1000);
    await closed;
    expect(stream.wasStopped).toBe(true);
  });

  test.each([
    ['one message', [MAX_BYTES_BEFORE_START + 1]],
    ['many messages', Array<number>(65).fill(1024)],
  ])(
    'closes a connection that sends more than 64 KiB before its start message, in %s',
    async (_how, sizes) => {
      const closed = closeOf(gateway);
      const accepted = acceptStream(pair.server, grantOf('callway'), deps);
      for (const size of sizes) gateway.send(Buffer.alloc(size));
      expect(await accepted).toBeUndefined();
      expect(await closed).toEqual([1009, 'more than 65536 bytes came before the start']);
    },
  );

  test('closes a stream of a refused format with the dialect’s reason', async () => {
    const closed = closeOf(gateway);
    send(start('twilio', 16_000));
    expect(await acceptStream(pair.server, grantOf('twilio'), deps)).toBeUndefined();
    expect(await closed).toEqual([1002, 'the audio must be audio/x-mulaw at 8000 Hz']);
  });

  test('closes a connection without a start message after 5 s', async () => {
    const clock = createSimulatedClock();
    const closed = closeOf(gateway);
    const accepted = acceptStream(pair.server, grantOf('twilio'), { ...deps, clock });
    for (let second = 0; second < 5; second++) clock.advance(1000);
    expect(await accepted).toBeUndefined();
    expect(await closed).toEqual([1002, 'no start message was received']);
  });

  test('gives up when the peer closes before its start message', async () => {
    const accepted = acceptStream(pair.server, grantOf('twilio'), deps);
    gateway.close();
    expect(await accepted).toBeUndefined();
  });

  test.each([
    ['a call of ours after 6 s', { callId: 'c' }, 6],
    ['another carrier after 18 s', {}, 18],
  ])('terminates a frozen gateway: %s', async (_whose, fields, seconds) => {
    const clock = createSimulatedClock();
    send(start('callway'));
    const grant = { projectId: 'p', sessionId: 's', dialect: 'callway', ...fields } as const;
    const stream = await acceptStream(pair.server, grant, { ...deps, clock });
    if (!stream) throw new Error('no stream');
    const events = eventsOf(stream);
    gateway.pause();
    for (let second = 0; second < seconds - 1; second++) clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(events.seen).toEqual([]);
    clock.advance(1000);
    expect(await events.count(1)).toEqual([['closed', { code: 1006, reason: '' }]]);
    expect(stream.wasStopped).toBe(false);
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('ServerStream', () => {
  test('passes on the positions and the hold that the gateway reports', async () => {
    const stream = await accept('callway');
    const events = eventsOf(stream);
    stream.mark('m');
    const position = { playedSamples: 320, receivedSamples: 640, bufferDelayMs: 30 };
    send({ event: 'mark', mark: { name: 'm', outcome: 'played', position } });
    stream.clear();
    send({ event: 'cleared', position });
    send({ event: 'hold', hold: { isHeld: true } });
    expect(await events.count(3)).toEqual([
      ['mark', { name: 'm', outcome: 'played', ...position }],
      ['cleared', position],
      ['hold', { isHeld: true }],
    ]);
  });

  test('keeps digits and what supervisors ask until there is a voice session', async () => {
    const stream = await accept('callway');
    const controls = [
      { kind: 'instruct', text: 'Be brief.', number: 1 },
      { kind: 'say', text: 'Hello.' },
      { kind: 'pause', isPaused: true },
      { kind: 'takeover', isTakenOver: true },
    ];
    const events = eventsOf(stream);
    for (const control of controls) send({ event: 'control', control });
    send({ event: 'dtmf', dtmf: { digit: '1' } });
    send({ event: 'hold', hold: { isHeld: true } });
    await events.count(2);
    expect(stream.takeEarly()).toEqual({ controls, digits: ['1'] });
    send({ event: 'control', control: controls[0] });
    send({ event: 'dtmf', dtmf: { digit: '2' } });
    send({ event: 'hold', hold: { isHeld: false } });
    await events.count(4);
    expect(stream.takeEarly()).toEqual({ controls: [], digits: [] });
  });

  test('estimates outcomes and positions for a dialect that does not report them', async () => {
    const stream = await accept('twilio');
    const events = eventsOf(stream);
    stream.play(new Int16Array(320));
    stream.mark('first');
    const frame = Buffer.alloc(160, 0xff).toString('base64');
    for (let i = 0; i < 3; i++)
      send({ event: 'media', media: { timestamp: String(i * 20), payload: frame } });
    send({ event: 'mark', mark: { name: 'first' } });
    await events.count(4);
    stream.play(new Int16Array(800));
    stream.mark('second');
    stream.clear();
    send({ event: 'mark', mark: { name: 'second' } });
    // Unknown, and so ignored.
    send({ event: 'mark', mark: { name: 'third' } });
    send({ event: 'dtmf', dtmf: { digit: '1' } });
    const position = { playedSamples: 320, receivedSamples: 480, bufferDelayMs: 0 };
    expect((await events.count(7)).slice(3)).toEqual([
      ['mark', { name: 'first', outcome: 'played', ...position }],
      ['cleared', position],
      ['mark', { name: 'second', outcome: 'cleared', ...position }],
      ['dtmf', { digit: '1' }],
    ]);
  });

  test('counts unreadable messages and continues', async () => {
    const stream = await accept('callway');
    const events = eventsOf(stream);
    gateway.send('nonsense');
    gateway.send(Buffer.from([1, 0, 9]));
    expect(await events.count(1)).toEqual([['audio', [1]]]);
    expect(stream.malformed).toBe(2);
  });

  test('ignores failover prompts and closes to hang up in a dialect without these messages', async () => {
    const closed = closeOf(gateway);
    const stream = await accept('twilio');
    stream.setFailoverPrompts({ waiting: Int16Array.of(1), apology: Int16Array.of(1) });
    stream.command({ kind: 'hangup' });
    expect(await closed).toEqual([1000, 'hangup']);
  });

  test('closes once, and keeps the socket open after a stop until its session has ended', async () => {
    const stream = await accept('twilio');
    const events = eventsOf(stream);
    send({ event: 'stop', stop: { callSid: 'CA1' } });
    expect(await events.count(1)).toEqual([['closed', { code: 1000, reason: '' }]]);
    expect(stream.wasStopped).toBe(true);
    expect(gateway.readyState).toBe(gateway.OPEN);
    const closed = closeOf(gateway);
    stream.play(Int16Array.of(1));
    stream.close();
    expect(await closed).toEqual([1000, '']);
    expect(events.seen).toHaveLength(1);
  });
});
