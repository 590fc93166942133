import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createSealer } from '../../src/base/sealer.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { openMediaHeaders, sealMedia } from '../../src/calls/numbers/callMedia.ts';
import { chooseSubprotocol, type DialectName } from '../../src/dialects/index.ts';
import { twilioSignature } from '../../src/dialects/twilioSignature.ts';
import type { StreamHandler, StreamTarget } from '../../src/media/agentStream/streamClient.ts';
import { createConnectStream } from '../../src/streams/connectStream.ts';
import { detectLeaks } from '../support/leaks.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { record } from './support/socketPair.ts';

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

let bot: WebSocketServer;
let url: string;
beforeEach(async () => {
  bot = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: chooseSubprotocol });
  await once(bot, 'listening');
  url = `ws://127.0.0.1:${(bot.address() as AddressInfo).port}/bot?x=1`;
});
afterEach(async () => {
  for (const socket of bot.clients) socket.terminate();
  await new Promise((resolve) => bot.close(resolve));
});

const lookup = async () => ['127.0.0.1'];
const policy = { allowInsecureLoopback: true };
const connectStream = createConnectStream({ clock: systemClock, policy, lookup });
const targetOf = (dialect: DialectName, fields: Partial<StreamTarget> = {}): StreamTarget => ({
  url,
  dialect,
  streamId: 'MZ1',
  callId: 'CA1',
  customParameters: { name: 'Ada' },
  canReconnect: false,
  ...fields,
});
const requestOf = (target: StreamTarget) => ({
  target,
  sampleRateHz: 16_000 as const,
  signal: new AbortController().signal,
});

/** The messages of the agent, in order. */
function recordHandler() {
  const calls: unknown[][] = [];
  const waiting: (() => void)[] = [];
  const note = (...call: unknown[]) => {
    calls.push(call);
    for (const check of waiting.splice(0)) check();
  };
  const handler: StreamHandler = {
    audio: (samples) => note('audio', [...samples]),
    mark: (name) => note('mark', name),
    clear: () => note('clear'),
    command: (command) => note('command', command),
    failoverPrompts: () => note('failoverPrompts'),
    closed: (end) => note('closed', end),
  };
  return {
    handler,
    calls,
    async count(count: number) {
      while (calls.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return calls;
    },
  };
}

async function open(dialect: DialectName, fields: Partial<StreamTarget> = {}, connect = connectStream) {
  const accepted = once(bot, 'connection') as Promise<[WebSocket]>;
  // Before the socket is open here, so that no message is missed.
  const recorded = accepted.then(([socket]) => record(socket));
  const session = recordHandler();
  const client = await connect(requestOf(targetOf(dialect, fields)), session.handler);
  const [agent] = await accepted;
  return { client, agent, heard: await recorded, session };
}

describe('Stream client', () => {
  test.each<[DialectName, number, string]>([
    ['twilio', 8000, ''],
    ['callway', 16_000, 'audio.callway.v1'],
  ])('speaks %s at %i Hz under the subprotocol “%s”', async (dialect, sampleRateHz, subprotocol) => {
    const { client, agent, heard, session } = await open(dialect);
    expect([client.sampleRateHz, agent.protocol]).toEqual([sampleRateHz, subprotocol]);
    client.toAgent.dtmf('5', 100);
    const messages = await heard.count(3);
    expect(messages.map((message) => !Buffer.isBuffer(message) && message.event)).toEqual([
      'connected',
      'start',
      'dtmf',
    ]);
    void heard.text('stop').then(() => agent.close());
    await client.close(1000, 'over');
    // Its own close is not reported.
    expect(session.calls).toEqual([]);
  });

  test('gives the agent’s messages to its handler, and then the end of the stream', async () => {
    const { agent, session } = await open('callway');
    agent.send(Buffer.from([1, 0]));
    agent.send(JSON.stringify({ event: 'mark', mark: { name: 'm' } }));
    agent.close(1000);
    expect(await session.count(3)).toEqual([
      ['audio', [1]],
      ['mark', 'm'],
      ['closed', { how: 'stopped', code: 1000, reason: '' }],
    ]);
  });

  test('closes the connection of a bot that floods it with messages', async () => {
    const { agent, session } = await open('twilio');
    for (let n = 0; n < 60_000; n++) agent.send('{"event":"clear"}');
    while (!session.calls.some(([name]) => name === 'closed')) await session.count(session.calls.length + 1);
    const reason = 'messages arrive faster than a call has them';
    expect(session.calls.at(-1)).toEqual(['closed', { how: 'broken', code: 1008, reason }]);
    expect(session.calls.length).toBeLessThan(60_000);
  });

  test('passes on no more digits of a bot than a person could press', async () => {
    const { agent, session } = await open('callway');
    for (let n = 0; n < 100; n++)
      agent.send(JSON.stringify({ event: 'dtmf', dtmf: { digits: '0123456789' } }));
    agent.send(JSON.stringify({ event: 'mark', mark: { name: 'm' } }));
    while (!session.calls.some(([name]) => name === 'mark')) await session.count(session.calls.length + 1);
    const digits = session.calls.filter(([name]) => name === 'command').length * 10;
    expect(digits).toBeGreaterThanOrEqual(200);
    expect(digits).toBeLessThan(400);
  });

  test('counts messages that cannot be read', async () => {
    let malformed = 0;
    const onMalformed = () => {
      malformed++;
    };
    const connect = createConnectStream({ clock: systemClock, policy, lookup, onMalformed });
    const { agent, session } = await open('callway', {}, connect);
    agent.send('}{');
    agent.send(JSON.stringify({ event: 'clear' }));
    await session.count(1);
    expect(malformed).toBe(1);
  });

  test.each([
    ['our own agent after 6 s', { isInternal: true }, 6],
    ['a user’s agent after 18 s', {}, 18],
  ] as const)('terminates a frozen agent: %s', async (_whose, fields, seconds) => {
    const clock = createSimulatedClock();
    const connect = createConnectStream({ clock, policy, lookup });
    const { agent, session } = await open('callway', fields, connect);
    agent.pause();
    for (let second = 0; second < seconds - 1; second++) clock.advance(1000);
    // Long enough for a close to arrive.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(session.calls).toEqual([]);
    clock.advance(1000);
    expect(await session.count(1)).toEqual([['closed', { how: 'broken', code: 1006, reason: '' }]]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('keeps an agent that answers pings and sends nothing else', async () => {
    const clock = createSimulatedClock();
    const connect = createConnectStream({ clock, policy, lookup });
    const { agent, session } = await open('callway', { isInternal: true }, connect);
    for (let second = 0; second < 20; second++) {
      const pinged = once(agent, 'ping');
      clock.advance(1000);
      await pinged;
      // Follows the pong on the same connection.
      agent.send(JSON.stringify({ event: 'clear' }));
      await session.count(second + 1);
    }
    expect(session.calls).toEqual(new Array(20).fill(['clear']));
  });

  test.each([
    ['without a code as stopped', (agent: WebSocket) => agent.close(), 'stopped', 1005],
    ['of a broken connection as broken', (agent: WebSocket) => agent.terminate(), 'broken', 1006],
    [
      'after a hangup as stopped',
      (agent: WebSocket) => agent.send(JSON.stringify({ event: 'hangup' }), () => agent.terminate()),
      'stopped',
      1006,
    ],
  ])('reports a close %s', async (_what, close, how, code) => {
    const { agent, session } = await open('callway');
    const closed = once(agent, 'close');
    close(agent);
    await closed;
    while (!session.calls.some((call) => Array.isArray(call) && call[0] === 'closed')) {
      await session.count(session.calls.length + 1);
    }
    expect(session.calls.at(-1)).toEqual(['closed', { how, code, reason: '' }]);
  });

  test('closes within 3 s though the agent does not answer', async () => {
    const clock = createSimulatedClock();
    const { client, agent } = await open('callway', {}, createConnectStream({ clock, policy, lookup }));
    agent.pause();
    const closed = client.close(1000, '');
    for (let ms = 0; ms < 3000; ms += 500) {
      clock.advance(500);
      await setImmediate();
    }
    await closed;
  });

  test('terminates an agent that has sent its close and reads no more', async () => {
    const clock = createSimulatedClock();
    const connect = createConnectStream({ clock, policy, lookup });
    const { client, agent, session } = await open('twilio', {}, connect);
    const answered = once(agent, 'close');
    agent.pause();
    agent.close(1000, 'bye');
    // A message into the closing connection detects it.
    while (clock.pendingTimers() < 2) {
      client.toAgent.audio(new Int16Array(160), 0);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(session.calls).toEqual([]);
    clock.advance(500);
    expect(await session.count(1)).toEqual([['closed', { how: 'stopped', code: 1000, reason: 'bye' }]]);
    expect(clock.pendingTimers()).toBe(0);
    agent.resume();
    await answered;
  });
});

describe('Connecting', () => {
  const attempt = (fields: Partial<StreamTarget>) =>
    createConnectStream({ clock: systemClock, policy: { allowInsecureLoopback: false }, lookup })(
      requestOf(targetOf('twilio', fields)),
      recordHandler().handler,
    );

  test('sends the headers, the credentials and Twilio’s signature to a user’s bot', async () => {
    const request = once(bot, 'connection') as Promise<[WebSocket, IncomingMessage]>;
    const { seal, open: unseal } = createSealer(Buffer.alloc(32));
    const media = sealMedia(
      {
        url,
        dialect: 'twilio',
        username: 'u',
        password: 'p:q',
        headers: [{ key: 'X-Token', value: 't' }],
      },
      seal,
    );
    expect(JSON.stringify(media)).not.toContain('p:q');
    const twilioToken = async (projectId: string) => (projectId === 'p' ? 'token' : undefined);
    const headers = await openMediaHeaders('p', media, { open: unseal, twilioToken });
    const client = await connectStream(requestOf(targetOf('twilio', { headers })), recordHandler().handler);
    expect((await request)[1].headers).toMatchObject({
      'x-token': 't',
      // Base64 of "u:p:q".
      authorization: 'Basic dTpwOnE=',
      'x-twilio-signature': twilioSignature('token', url),
    });
    expect(await openMediaHeaders('p', { url, dialect: 'vonage' }, { open: unseal, twilioToken })).toEqual(
      {},
    );
    await client.close(1000, '');
  });

  test('refuses loopback addresses of users, and takes our own', async () => {
    await expect(attempt({})).rejects.toMatchObject({ code: 'target_not_https' });
    await expect(attempt({ url: 'wss://bot.example/x' })).rejects.toMatchObject({
      code: 'target_private_address',
    });
    const client = await attempt({ isInternal: true });
    await client.close(1000, '');
  });

  test('fails with engine_unavailable when the agent cannot be reached', async () => {
    await expect(attempt({ url: 'ws://127.0.0.1:1/', isInternal: true })).rejects.toMatchObject({
      code: 'engine_unavailable',
      category: 'unavailable',
    });
  });

  test('ends at once when the call ends', async () => {
    const silent: Server = createServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const abort = new AbortController();
    const { port } = silent.address() as AddressInfo;
    const target = targetOf('twilio', { url: `ws://127.0.0.1:${port}/` });
    const opening = connectStream({ ...requestOf(target), signal: abort.signal }, recordHandler().handler);
    abort.abort(new Error('hung up'));
    await expect(opening).rejects.toThrow('hung up');
    await new Promise((resolve) => silent.close(resolve));
  });
});
