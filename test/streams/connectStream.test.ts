import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

import { systemClock } from '../../src/base/clock.ts';
import type { StreamHandler } from '../../src/media/agentStream/streamClient.ts';
import type { StreamDialect, StreamTarget } from '../../src/media/mediaSession.ts';
import { acceptStream } from '../../src/streams/acceptStream.ts';
import { createConnectStream } from '../../src/streams/connectStream.ts';
import { watchLeaks } from '../support/leaks.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { record } from './support/socketPair.ts';

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = watchLeaks();
});
afterAll(() => assertNoLeaks());

let bot: WebSocketServer;
let url: string;
beforeEach(async () => {
  bot = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    handleProtocols: (offered) => (offered.has('audio.callway.v1') ? 'audio.callway.v1' : false),
  });
  await once(bot, 'listening');
  url = `ws://127.0.0.1:${(bot.address() as AddressInfo).port}/bot?x=1`;
});
afterEach(async () => {
  for (const socket of bot.clients) socket.terminate();
  await new Promise((resolve) => bot.close(resolve));
});

const lookup = async () => ['127.0.0.1'];
const connect = createConnectStream({ clock: systemClock, policy: { allowInsecureLoopback: true }, lookup });
const target = (dialect: StreamDialect, fields: Partial<StreamTarget> = {}): StreamTarget => ({
  url,
  dialect,
  streamId: 'MZ1',
  callId: 'CA1',
  customParameters: { who: 'Ada' },
  canReconnect: false,
  ...fields,
});

/** What the session is told, in order. */
function receiver() {
  const calls: unknown[] = [];
  const waiting: (() => void)[] = [];
  const note = (...call: unknown[]) => {
    calls.push(call);
    for (const check of waiting.splice(0)) check();
  };
  const told: StreamHandler = {
    audio: (samples) => note('audio', [...samples]),
    mark: (name) => note('mark', name),
    clear: () => note('clear'),
    command: (command) => note('command', command),
    failoverPrompts: ({ waiting, apology }) => note('standby', [...waiting], [...apology]),
    closed: (end) => note('closed', end),
  };
  return {
    told,
    calls,
    async count(count: number) {
      while (calls.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return calls;
    },
  };
}

async function open(dialect: StreamDialect, fields: Partial<StreamTarget> = {}, dial = connect) {
  const accepted = once(bot, 'connection') as Promise<[WebSocket]>;
  // Before the socket is open here, so that nothing it says is missed.
  const recorded = accepted.then(([socket]) => record(socket));
  const session = receiver();
  const link = await dial(
    { target: target(dialect, fields), sampleRateHz: 16_000, signal: new AbortController().signal },
    session.told,
  );
  const [engine] = await accepted;
  return { link, engine, heard: await recorded, session };
}

describe('the gateway’s end', () => {
  test('speaks as Twilio does to a bot that knows Twilio', async () => {
    const { link, engine, heard, session } = await open('twilio');
    expect(link.sampleRateHz).toBe(8000);
    expect(engine.protocol).toBe('');
    link.sendAudio(Int16Array.of(0, 32_124, -32_124), 160);
    link.sendDtmf('5', 100);
    link.sendMark({ name: 'm', outcome: 'played', playedSamples: 1, receivedSamples: 2, bufferDelayMs: 3 });
    link.sendCleared({ playedSamples: 1, receivedSamples: 2, bufferDelayMs: 3 });
    link.sendTransfer({ status: 'begun', to: '+886223456789' });
    const done = link.close(1000, 'over');
    expect(await heard.count(6)).toEqual([
      { event: 'connected', protocol: 'Call', version: '1.0.0' },
      {
        event: 'start',
        sequenceNumber: '1',
        streamSid: 'MZ1',
        start: {
          streamSid: 'MZ1',
          accountSid: 'callway',
          callSid: 'CA1',
          tracks: ['inbound'],
          customParameters: { who: 'Ada' },
          mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        },
      },
      {
        event: 'media',
        sequenceNumber: '2',
        streamSid: 'MZ1',
        media: {
          track: 'inbound',
          chunk: '1',
          timestamp: '20',
          payload: Buffer.from([0xff, 0x80, 0x00]).toString('base64'),
        },
      },
      {
        event: 'dtmf',
        sequenceNumber: '3',
        streamSid: 'MZ1',
        dtmf: { track: 'inbound_track', digit: '5' },
      },
      { event: 'mark', sequenceNumber: '4', streamSid: 'MZ1', mark: { name: 'm' } },
      {
        event: 'stop',
        sequenceNumber: '5',
        streamSid: 'MZ1',
        stop: { accountSid: 'callway', callSid: 'CA1' },
      },
    ]);
    await done;
    // It took leave itself, and is not told of what it did.
    expect(session.calls).toEqual([]);
  });

  test('takes what a Twilio bot says', async () => {
    const { engine, session } = await open('twilio');
    const say = (message: object) => engine.send(JSON.stringify({ streamSid: 'MZ1', ...message }));
    say({ event: 'media', media: { payload: Buffer.from([0xff, 0x80]).toString('base64') } });
    say({ event: 'mark', mark: { name: 'm' } });
    say({ event: 'clear' });
    engine.send(Buffer.from([1, 2, 3]));
    engine.send('}{');
    engine.close(1000);
    expect(await session.count(4)).toEqual([
      ['audio', [0, 32_124]],
      ['mark', 'm'],
      ['clear'],
      ['closed', { how: 'stopped', code: 1000, reason: '' }],
    ]);
  });

  test('offers our subprotocol, at the call’s own rate', async () => {
    const { link, engine, heard, session } = await open('callway');
    expect(link.sampleRateHz).toBe(16_000);
    expect(engine.protocol).toBe('audio.callway.v1');
    const samples = Int16Array.of(1, -2);
    link.sendAudio(samples, 0);
    // The session writes into its array again at once.
    samples.fill(99);
    expect(await heard.binary()).toEqual(Buffer.from([0x01, 0x00, 0xfe, 0xff]));
    const { start } = (await heard.text('start')) as { start: { mediaFormat: unknown } };
    expect(start.mediaFormat).toEqual({
      encoding: 'audio/l16;endianness=little',
      sampleRate: 16_000,
      channels: 1,
    });
    engine.send(Buffer.from([1, 0, 2]));
    engine.send(Buffer.alloc(0));
    engine.send(JSON.stringify({ event: 'transfer', transfer: { to: '+1' } }));
    engine.send(JSON.stringify({ event: 'dtmf', dtmf: { digits: '12#' } }));
    engine.send(JSON.stringify({ event: 'hangup' }));
    expect(await session.count(4)).toEqual([
      ['audio', [1]],
      ['command', { kind: 'transfer', to: '+1' }],
      ['command', { kind: 'send_dtmf', digits: '12#' }],
      ['command', { kind: 'hangup' }],
    ]);
    const position = { playedSamples: 10, receivedSamples: 20, bufferDelayMs: 30 };
    link.sendMark({ name: 'm', outcome: 'cleared', ...position });
    link.sendCleared(position);
    link.sendHold(true);
    expect(await heard.text('mark')).toMatchObject({ mark: { name: 'm', outcome: 'cleared', position } });
    expect(await heard.text('cleared')).toMatchObject({ position });
    expect(await heard.text('hold')).toMatchObject({ hold: { isHeld: true } });
  });

  test('sends our own engine two frames in one message, and none later than what is said about them', async () => {
    const { link, engine, heard } = await open('callway', { isInternal: true });
    void heard.text('stop').then(() => engine.close());
    const frame = (value: number) => new Int16Array(320).fill(value);
    link.sendAudio(frame(1), 0);
    link.sendAudio(frame(2), 320);
    link.sendAudio(frame(3), 640);
    link.sendDtmf('5', 100);
    link.sendAudio(frame(4), 960);
    await link.close(1000, '');
    const shown = heard.messages.map((message) =>
      Buffer.isBuffer(message)
        ? [message.length, message.readInt16LE(0), message.readInt16LE(message.length - 2)]
        : message.event,
    );
    expect(shown).toEqual(['connected', 'start', [1280, 1, 2], [640, 3, 3], 'dtmf', [640, 4, 4], 'stop']);
  });

  test.each([
    ['our own engine within 6 s', { isInternal: true }, 6],
    ['a bot within 18 s', {}, 18],
  ] as const)('takes a peer that is frozen for gone: %s', async (_whose, fields, seconds) => {
    const clock = createSimulatedClock();
    const dial = createConnectStream({ clock, policy: { allowInsecureLoopback: true }, lookup });
    const { engine, session } = await open('callway', fields, dial);
    engine.pause();
    for (let second = 0; second < seconds - 1; second++) clock.advance(1000);
    // Long enough for a close to be heard of.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(session.calls).toEqual([]);
    clock.advance(1000);
    expect(await session.count(1)).toEqual([['closed', { how: 'broken', code: 1006, reason: '' }]]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test.each([
    [
      'of our own engine',
      { isInternal: true },
      [
        ['standby', [1, -1], []],
        ['mark', 'after'],
      ],
      0,
    ],
    ['of a bot, which nobody seeks again', {}, [['mark', 'after']], 1],
  ] as const)('passes on, or counts, words for later %s', async (_whose, fields, expected, malformed) => {
    let counted = 0;
    const dial = createConnectStream({
      clock: systemClock,
      policy: { allowInsecureLoopback: true },
      lookup,
      onMalformed: () => {
        counted++;
      },
    });
    const { engine, session } = await open('callway', fields, dial);
    engine.send(JSON.stringify({ event: 'standby', standby: { waiting: 'AQD//w==', apology: '' } }));
    engine.send(JSON.stringify({ event: 'mark', mark: { name: 'after' } }));
    expect(await session.count(expected.length)).toEqual(expected);
    expect(counted).toBe(malformed);
  });

  test('keeps a peer that answers, though it says nothing', async () => {
    const clock = createSimulatedClock();
    const dial = createConnectStream({ clock, policy: { allowInsecureLoopback: true }, lookup });
    const { engine, session } = await open('callway', { isInternal: true }, dial);
    for (let second = 0; second < 20; second++) {
      const asked = once(engine, 'ping');
      clock.advance(1000);
      await asked;
      // A message goes the way that the answer has gone before it.
      engine.send(JSON.stringify({ event: 'clear' }));
      await session.count(second + 1);
    }
    expect(session.calls).toEqual(new Array(20).fill(['clear']));
  });

  test('takes a close without a code for a goodbye', async () => {
    const { engine, session } = await open('twilio');
    engine.close();
    expect(await session.count(1)).toEqual([['closed', { how: 'stopped', code: 1005, reason: '' }]]);
  });

  test('tells a socket that broke from an engine that left', async () => {
    const { engine, session } = await open('callway');
    engine.terminate();
    expect(await session.count(1)).toEqual([['closed', { how: 'broken', code: 1006, reason: '' }]]);
  });

  test('leaves an engine that does not answer its goodbye', async () => {
    const { link, engine } = await open('callway');
    engine.pause();
    const before = performance.now();
    await link.close(1000, '');
    expect(performance.now() - before).toBeLessThan(3000);
  });

  test('carries a talk between both of our ends', async () => {
    const accepted = once(bot, 'connection') as Promise<[WebSocket]>;
    const streamed = accepted.then(([socket]) =>
      acceptStream(
        socket,
        { projectId: 'p', sessionId: 's', dialect: 'callway' },
        { clock: systemClock, onListenerError: () => {} },
      ),
    );
    const session = receiver();
    const link = await connect(
      { target: target('callway'), sampleRateHz: 8000, signal: new AbortController().signal },
      session.told,
    );
    const stream = await streamed;
    if (!stream) throw new Error('no stream');
    const marks: unknown[] = [];
    const marked = new Promise<void>((resolve) => {
      stream.events.on('mark', (mark) => {
        marks.push(mark);
        resolve();
      });
    });
    stream.play(Int16Array.of(7, 8));
    stream.mark('said');
    await session.count(2);
    expect(session.calls).toEqual([
      ['audio', [7, 8]],
      ['mark', 'said'],
    ]);
    link.sendMark({
      name: 'said',
      outcome: 'played',
      playedSamples: 2,
      receivedSamples: 0,
      bufferDelayMs: 0,
    });
    await marked;
    expect(marks).toEqual([
      { name: 'said', outcome: 'played', playedSamples: 2, receivedSamples: 0, bufferDelayMs: 0 },
    ]);
    stream.close();
    expect((await session.count(3))[2]).toEqual(['closed', { how: 'stopped', code: 1000, reason: '' }]);
  });

  test('does not leave the caller with a bot that has said goodbye and reads no more', async () => {
    const clock = createSimulatedClock();
    const dial = createConnectStream({ clock, policy: { allowInsecureLoopback: true }, lookup });
    const { link, engine, session } = await open('twilio', {}, dial);
    const answered = once(engine, 'close');
    engine.pause();
    engine.close(1000, 'bye');
    // What is said into the closing connection tells that it closes.
    while (clock.pendingTimers() < 2) {
      link.sendAudio(new Int16Array(160), 0);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(session.calls).toEqual([]);
    clock.advance(500);
    expect(await session.count(1)).toEqual([['closed', { how: 'stopped', code: 1000, reason: 'bye' }]]);
    expect(clock.pendingTimers()).toBe(0);
    engine.resume();
    await answered;
  });
});

describe('reaching the engine', () => {
  const attempt = (fields: Partial<StreamTarget>, policy = { allowInsecureLoopback: false }) =>
    createConnectStream({ clock: systemClock, policy, lookup })(
      { target: target('twilio', fields), sampleRateHz: 8000, signal: new AbortController().signal },
      receiver().told,
    );

  test('refuses loopback to users, and not to our own engine', async () => {
    await expect(attempt({})).rejects.toMatchObject({ code: 'target_not_https' });
    await expect(attempt({ url: 'wss://bot.example/x' })).rejects.toMatchObject({
      code: 'target_private_address',
    });
    const link = await attempt({ isInternal: true });
    await link.close(1000, '');
  });

  test('says that the engine is not there', async () => {
    await expect(attempt({ url: 'ws://127.0.0.1:1/', isInternal: true })).rejects.toMatchObject({
      code: 'engine_unavailable',
      category: 'unavailable',
    });
  });

  test('gives up at once when the call is over', async () => {
    const silent: Server = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const abort = new AbortController();
    const { port } = silent.address() as AddressInfo;
    const opening = connect(
      {
        target: target('twilio', { url: `ws://127.0.0.1:${port}/` }),
        sampleRateHz: 8000,
        signal: abort.signal,
      },
      receiver().told,
    );
    abort.abort(new Error('hung up'));
    await expect(opening).rejects.toThrow('hung up');
    await new Promise((resolve) => silent.close(resolve));
  });
});
