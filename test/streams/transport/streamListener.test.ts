import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';

import { unavailable } from '../../../src/base/errors.ts';
import { CallerSendBuffer } from '../../../src/media/agentStream/callerSendBuffer.ts';
import type { StreamHandler } from '../../../src/media/agentStream/streamClient.ts';
import { createConnectStream } from '../../../src/streams/connectStream.ts';
import { createMediaStreams, type MediaStreamsDeps } from '../../../src/streams/mediaStreams.ts';
import { AdmittedTickets, type StreamGrant } from '../../../src/streams/streamTickets.ts';
import {
  listenForStreams,
  type StreamListener,
  streamRoutes,
} from '../../../src/streams/transport/streamListener.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { tempDir } from '../../support/tempDir.ts';

const GRANT: StreamGrant = { projectId: 'p', sessionId: 's', dialect: 'callway', callId: 'c' };
const NODE_ID = 'node/voice-1';
const awayRedis = {
  issue: () => Promise.reject(unavailable('redis')),
  redeem: () => Promise.reject(unavailable('redis')),
};
const HANDLER: StreamHandler = {
  audio: () => {},
  mark: () => {},
  clear: () => {},
  command: () => {},
  failoverPrompts: () => {},
  closed: () => {},
};

let clock: SimulatedClock;
let served: { readonly grant: StreamGrant; readonly socket: WebSocket }[];
let problems: string[];
beforeEach(() => {
  clock = createSimulatedClock();
  [served, problems] = [[], []];
});

/** A voice thread, and what gives the calls of its node their URLs. Redis is away unless a test says otherwise. */
async function startVoice(socketsBelow: string, redis: MediaStreamsDeps['tickets'] = awayRedis) {
  const tickets = new AdmittedTickets(clock);
  const listener: StreamListener = await listenForStreams<StreamGrant>('127.0.0.1', {
    redeem: async (ticket) =>
      tickets.redeem(ticket) ?? ((await redis.redeem(ticket)) as StreamGrant | undefined),
    serve: async (grant, socket) => void served.push({ grant, socket: socket as WebSocket }),
    onError: (_error, what) => problems.push(what),
    socketsBelow,
  });
  onTestFinished(() => listener.close());
  const admitOwn: MediaStreamsDeps['admitOwn'] = (nodeId, ticket, grant) => {
    if (nodeId !== NODE_ID) return undefined;
    tickets.admit(ticket, grant);
    return listener;
  };
  const { openForCall } = createMediaStreams({ admitOwn, tickets: redis } as unknown as MediaStreamsDeps);
  const url = `http://127.0.0.1:${listener.port}`;
  return { listener, open: (nodeId = NODE_ID) => openForCall(GRANT, { nodeId, url }) };
}

const policy = { allowInsecureLoopback: true };
const connect = (url: string, isInternal = true) =>
  createConnectStream({ clock, policy, lookup: async () => [] })(
    {
      target: {
        url,
        dialect: 'callway',
        streamId: 'stream',
        callId: 'c',
        customParameters: {},
        canReconnect: true,
        ...(isInternal ? { isInternal } : {}),
      },
      sampleRateHz: 16_000,
      signal: new AbortController().signal,
    },
    HANDLER,
  );
/** @returns The status with which a connection is refused; 101 for none. */
async function statusOf(url: string): Promise<number | undefined> {
  const socket = new WebSocket(url, ['audio.callway.v1']);
  const refused = once(socket, 'unexpected-response').then(([, { statusCode }]) => statusCode as number);
  const status = await Promise.race([refused, once(socket, 'open').then(() => 101)]);
  socket.on('error', () => {}).terminate();
  return status;
}

describe('A call of the node', () => {
  test('connects to a voice thread by its Unix domain socket while Redis is away', async () => {
    const folder = tempDir();
    const { listener, open } = await startVoice(folder);
    const url = await open();
    expect(url).toMatch(/^ws\+unix:\/[^:]+\/socket:\/v1\/media-streams\/[\w-]{32}$/);
    await connect(url);
    expect([served.map(({ grant }) => grant), problems]).toEqual([[GRANT], []]);
    await listener.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('connects by TCP where there can be no Unix domain socket', async () => {
    const folder = join(tempDir(), 'a:b');
    mkdirSync(folder);
    const { listener, open } = await startVoice(folder);
    const url = await open();
    expect(url).toMatch(`ws://127.0.0.1:${listener.port}/v1/media-streams/`);
    await connect(url);
    expect([served.length, problems]).toEqual([
      1,
      ['no Unix domain socket, calls of this node connect by TCP'],
    ]);
  });

  test('needs a ticket that is known, not expired and not used', async () => {
    const { open } = await startVoice(tempDir(), {
      ...awayRedis,
      redeem: async () => undefined,
    });
    const [used, late] = [await open(), await open()];
    expect([await statusOf(used), await statusOf(used), await statusOf(`${used}x`)]).toEqual([101, 401, 401]);
    clock.advance(30_000);
    expect([await statusOf(late), await statusOf(await open())]).toEqual([401, 101]);
  });

  test('of another node needs Redis', async () => {
    const issued: [string, StreamGrant][] = [];
    const redis: MediaStreamsDeps['tickets'] = {
      issue: async (ticket, grant) => void issued.push([ticket, grant as StreamGrant]),
      redeem: async (ticket) => issued.find(([one]) => one === ticket)?.[1],
    };
    const { listener, open } = await startVoice(tempDir(), redis);
    const url = await open('other/voice-1');
    expect(url).toBe(`ws://127.0.0.1:${listener.port}/v1/media-streams/${issued[0]?.[0]}`);
    expect(await statusOf(url)).toBe(101);
    const away = await startVoice(tempDir());
    await expect(away.open('other/voice-1')).rejects.toMatchObject({ code: 'redis_unavailable' });
    expect(await statusOf(`ws://127.0.0.1:${away.listener.port}/v1/media-streams/x`)).toBe(503);
  });

  test('reaches no Unix domain socket by the URL of its own bot', async () => {
    const { open } = await startVoice(tempDir());
    await expect(connect(await open(), false)).rejects.toMatchObject({ code: 'target_not_https' });
    expect(served).toEqual([]);
  });
});

describe('A voice thread that reads nothing for three seconds', () => {
  test('gets a second of audio from before, then the latest one, in order', async () => {
    const { open } = await startVoice(tempDir());
    const client = await connect(await open());
    const buffer = new CallerSendBuffer(client, 320);
    const thread = served[0]?.socket;
    const heard: number[] = [];
    thread?.on('message', (data: Buffer, isBinary) => isBinary && heard.push(data.readInt16LE(0)));
    const speak = async (from: number, to: number) => {
      for (let frame = from; frame < to; frame++) {
        buffer.send(new Int16Array(320).fill(frame));
        clock.advance(20);
        await setTimeout(2);
      }
    };
    await speak(0, 50);
    await expect.poll(() => heard.length).toBe(50);
    thread?.pause();
    await speak(50, 200);
    thread?.resume();
    await expect.poll(() => heard.length).toBeGreaterThan(50);
    await speak(200, 250);
    await expect.poll(() => heard.at(-1)).toBe(249);
    const dropped = buffer.droppedFrames;
    expect(dropped).toBeGreaterThan(40);
    // What was sent before the thread was known to be behind, and the last second that was held.
    const missing = Array.from({ length: 250 }, (_, frame) => frame).filter(
      (frame) => !heard.includes(frame),
    );
    expect(heard).toEqual([...heard].sort((one, other) => one - other));
    expect(missing).toEqual(Array.from({ length: dropped }, (_, n) => (missing[0] ?? 0) + n));
    expect(missing.at(-1)).toBeGreaterThanOrEqual(149);
    expect(missing.at(-1)).toBeLessThan(152);
  });
});

describe('The route of audio streams', () => {
  const routes = async (redeem: () => Promise<StreamGrant | undefined>) => {
    const app = await streamRoutes<StreamGrant>({
      redeem,
      serve: async (_grant, socket) =>
        void socket.on('message', (data) => socket.send(data, { binary: true })),
      onError: (_error, what) => problems.push(what),
    });
    onTestFinished(() => app.close());
    await app.ready();
    return { app };
  };
  const admits = async () => GRANT;
  const PATH = '/v1/media-streams/ticket';

  test('serves a WebSocket whose ticket is redeemed, and terminates it when it closes', async () => {
    const { app } = await routes(admits);
    const socket = await app.injectWS(PATH);
    socket.send(Buffer.from('audio'));
    expect(String((await once(socket, 'message'))[0])).toBe('audio');
    const closed = once(socket, 'close');
    await app.close();
    expect((await closed)[0]).toBe(1006);
  });

  test.each([
    ['an unknown ticket', 401, PATH, async () => undefined],
    ['another path', 401, '/v1/other/ticket', admits],
    ['the ticket of an AudioSocket', 401, PATH, async () => ({ ...GRANT, dialect: 'audiosocket' as const })],
    ['a ticket while Redis is away', 503, PATH, () => Promise.reject(unavailable('redis'))],
  ])('refuses %s with %i', async (_what, status, path, redeem) => {
    const { app } = await routes(redeem);
    await expect(app.injectWS(path)).rejects.toThrow(String(status));
    expect(problems).toEqual(status === 503 ? ['audio stream not admitted'] : []);
  });

  test('answers a request that is no WebSocket with 426, and leaves its ticket', async () => {
    let redeemed = 0;
    const { app } = await routes(async () => {
      redeemed++;
      return GRANT;
    });
    expect([(await app.inject(PATH)).statusCode, (await app.inject('/')).statusCode]).toEqual([426, 426]);
    expect(redeemed).toBe(0);
  });
});
