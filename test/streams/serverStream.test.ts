import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';

import { systemClock } from '../../src/base/clock.ts';
import { acceptStream } from '../../src/streams/acceptStream.ts';
import type { ServerStream } from '../../src/streams/serverStream.ts';
import type { AudioStreamEvents } from '../../src/voice/audioStream.ts';
import { watchLeaks } from '../support/leaks.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { openSocketPair, record, type SocketPair } from './support/socketPair.ts';

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = watchLeaks();
});
afterAll(() => assertNoLeaks());

let pair: SocketPair;
let phone: WebSocket;
beforeEach(async () => {
  pair = await openSocketPair();
  phone = pair.client;
});
afterEach(() => pair.close());

type Dialect = 'callway' | 'twilio';

const deps = {
  clock: systemClock,
  onListenerError: (error: unknown) => {
    throw error;
  },
};
const expected = (dialect: Dialect) => ({ projectId: 'p', sessionId: 's', dialect, callId: 'c' });
const say = (message: object) => phone.send(JSON.stringify(message));
const start = (dialect: Dialect, sampleRate = dialect === 'twilio' ? 8000 : 16_000) => ({
  event: 'start',
  sequenceNumber: '1',
  streamSid: 'MZ1',
  start: {
    streamSid: 'MZ1',
    callSid: 'CA1',
    mediaFormat: { encoding: dialect === 'twilio' ? 'audio/x-mulaw' : 'audio/l16', sampleRate, channels: 1 },
    customParameters: { a: 'b' },
  },
});

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

async function begin(dialect: Dialect): Promise<ServerStream> {
  say({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  say(start(dialect));
  const stream = await acceptStream(pair.server, expected(dialect), deps);
  if (!stream) throw new Error('no stream');
  return stream;
}

describe('the engine’s end', () => {
  test('knows the stream from its start and its ticket', async () => {
    const stream = await begin('twilio');
    expect(stream.info).toEqual({
      streamId: 'MZ1',
      dialect: 'twilio',
      sampleRateHz: 8000,
      projectId: 'p',
      sessionId: 's',
      callId: 'c',
      customParameters: { a: 'b' },
    });
  });

  test('loses nothing that comes with the start or before it', async () => {
    phone.send(Buffer.from([1, 0, 2, 0]));
    say(start('callway'));
    phone.send(Buffer.from([3, 0]));
    say({ event: 'dtmf', dtmf: { digit: '7' } });
    const stream = await acceptStream(pair.server, expected('callway'), deps);
    if (!stream) throw new Error('no stream');
    const events = eventsOf(stream);
    expect(await events.count(3)).toEqual([
      ['audio', [1, 2]],
      ['audio', [3]],
      ['dtmf', { digit: '7' }],
    ]);
    expect(stream.receivedSamples).toBe(3);
  });

  test.each<[Dialect, number, string]>([
    ['callway', 44_100, 'the sample rate must be one of 8000, 16000, 24000'],
    ['twilio', 16_000, 'the audio must be audio/x-mulaw at 8000 Hz'],
  ])('refuses %s at %i Hz with a reason', async (dialect, rate, reason) => {
    const closed = new Promise((resolve) => {
      phone.on('close', (code, text) => resolve([code, text.toString()]));
    });
    say(start(dialect, rate));
    expect(await acceptStream(pair.server, expected(dialect), deps)).toBeUndefined();
    expect(await closed).toEqual([1002, reason]);
  });

  test('gives up on a peer that closes without a start', async () => {
    const accepted = acceptStream(pair.server, expected('twilio'), deps);
    phone.close();
    expect(await accepted).toBeUndefined();
  });

  test('hears µ-law, and fills a hole that the time stamps show with silence', async () => {
    const stream = await begin('twilio');
    const events = eventsOf(stream);
    const silence = Buffer.alloc(160, 0xff).toString('base64');
    say({ event: 'media', media: { track: 'inbound', timestamp: '0', payload: silence } });
    // 60 ms later where 20 would follow.
    say({ event: 'media', media: { track: 'inbound', timestamp: '80', payload: silence } });
    const audio = (await events.count(3)) as ['audio', number[]][];
    expect(audio.map(([, samples]) => samples.length)).toEqual([160, 480, 160]);
    expect(stream.receivedSamples).toBe(800);
  });

  test('speaks µ-law to Twilio, and L16 to our own', async () => {
    const heard = record(phone);
    const twilio = await begin('twilio');
    twilio.play(Int16Array.of(0, 32_124, -32_124));
    expect(await heard.text('media')).toEqual({
      event: 'media',
      streamSid: 'MZ1',
      // µ-law code words of zero and of both ends of the range (G.711 table 2).
      media: { payload: Buffer.from([0xff, 0x80, 0x00]).toString('base64') },
    });
    await pair.close();

    pair = await openSocketPair();
    phone = pair.client;
    const own = record(phone);
    (await begin('callway')).play(Int16Array.of(1, -2));
    expect(await own.binary()).toEqual(Buffer.from([0x01, 0x00, 0xfe, 0xff]));
  });

  test('passes on marks with the positions that our own side tells, and that it is held', async () => {
    const stream = await begin('callway');
    const events = eventsOf(stream);
    stream.mark('m');
    const position = { playedSamples: 320, receivedSamples: 640, bufferDelayMs: 30 };
    say({ event: 'mark', mark: { name: 'm', outcome: 'played', position } });
    stream.clear();
    say({ event: 'cleared', position });
    say({ event: 'hold', hold: { isHeld: true } });
    expect(await events.count(3)).toEqual([
      ['mark', { name: 'm', outcome: 'played', ...position }],
      ['cleared', position],
      ['hold', { isHeld: true }],
    ]);
  });

  test('tells from Twilio’s bare marks whether they were played or cleared', async () => {
    const stream = await begin('twilio');
    const events = eventsOf(stream);
    stream.play(new Int16Array(320));
    stream.mark('first');
    const frame = Buffer.alloc(160, 0xff).toString('base64');
    for (let i = 0; i < 3; i++) say({ event: 'media', media: { timestamp: String(i * 20), payload: frame } });
    say({ event: 'mark', mark: { name: 'first' } });
    await events.count(4);
    stream.play(new Int16Array(800));
    stream.mark('second');
    stream.clear();
    say({ event: 'mark', mark: { name: 'second' } });
    // A mark that nobody set is nobody's.
    say({ event: 'mark', mark: { name: 'third' } });
    say({ event: 'dtmf', dtmf: { digit: '1' } });
    const position = { playedSamples: 320, receivedSamples: 480, bufferDelayMs: 0 };
    expect((await events.count(7)).slice(3)).toEqual([
      ['mark', { name: 'first', outcome: 'played', ...position }],
      ['cleared', position],
      ['mark', { name: 'second', outcome: 'cleared', ...position }],
      ['dtmf', { digit: '1' }],
    ]);
  });

  test('counts what it cannot read, and goes on', async () => {
    const stream = await begin('callway');
    const events = eventsOf(stream);
    phone.send('nonsense');
    say({ event: 'media', media: { payload: '//8=' } });
    phone.send(Buffer.from([1, 0, 9]));
    say({ event: 'dtmf', dtmf: { digit: '5' } });
    expect(await events.count(2)).toEqual([
      ['audio', [1]],
      ['dtmf', { digit: '5' }],
    ]);
    expect(stream.malformed).toBe(3);
  });

  test('asks our own side to hang up, to transfer and to send digits; closes a foreign one', async () => {
    const heard = record(phone);
    const stream = await begin('callway');
    stream.command({ kind: 'transfer', to: '+1' });
    stream.command({ kind: 'send_dtmf', digits: '12' });
    stream.command({ kind: 'hangup' });
    stream.setFailoverPrompts({ waiting: Int16Array.of(1, -1), apology: new Int16Array(0) });
    expect(await heard.count(4)).toEqual([
      { event: 'transfer', streamSid: 'MZ1', transfer: { to: '+1' } },
      { event: 'dtmf', streamSid: 'MZ1', dtmf: { digits: '12' } },
      { event: 'hangup', streamSid: 'MZ1' },
      { event: 'standby', streamSid: 'MZ1', standby: { waiting: 'AQD//w==', apology: '' } },
    ]);
    await pair.close();

    pair = await openSocketPair();
    phone = pair.client;
    const closed = new Promise((resolve) => phone.on('close', (code) => resolve(code)));
    const foreign = await begin('twilio');
    foreign.setFailoverPrompts({ waiting: Int16Array.of(1), apology: Int16Array.of(1) });
    foreign.command({ kind: 'transfer', to: '+1' });
    foreign.command({ kind: 'hangup' });
    expect(await closed).toBe(1000);
  });

  test.each([
    ['a call of ours within 6 s', { callId: 'c' }, 6],
    ['a foreign carrier within 18 s', {}, 18],
  ])('takes a side with the phone that is frozen for gone: %s', async (_whose, fields, seconds) => {
    const clock = createSimulatedClock();
    say(start('callway'));
    const known = { projectId: 'p', sessionId: 's', dialect: 'callway', ...fields } as const;
    const stream = await acceptStream(pair.server, known, { ...deps, clock });
    if (!stream) throw new Error('no stream');
    const events = eventsOf(stream);
    phone.pause();
    for (let second = 0; second < seconds - 1; second++) clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(events.seen).toEqual([]);
    clock.advance(1000);
    expect(await events.count(1)).toEqual([['closed', { code: 1006, reason: '' }]]);
    expect(stream.wasStopped).toBe(false);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('says once that it is closed, and whether the call was over', async () => {
    const stream = await begin('twilio');
    const events = eventsOf(stream);
    say({ event: 'stop', stop: { callSid: 'CA1' } });
    expect(await events.count(1)).toEqual([['closed', { code: 1000, reason: '' }]]);
    expect(stream.wasStopped).toBe(true);
    // The other side sees the socket close when the talk has been put away.
    expect(phone.readyState).toBe(phone.OPEN);
    const closed = new Promise((resolve) => phone.on('close', (code) => resolve(code)));
    stream.play(Int16Array.of(1));
    stream.close();
    expect(await closed).toBe(1000);
    expect(events.seen).toHaveLength(1);
  });
});
