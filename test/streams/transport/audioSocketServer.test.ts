import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { systemClock } from '../../../src/base/values/clock.ts';
import { createConnectStream } from '../../../src/streams/connectStream.ts';
import type { StreamGrant } from '../../../src/streams/streamTickets.ts';
import {
  type AudioSocketServer,
  listenForAudioSockets,
} from '../../../src/streams/transport/audioSocketServer.ts';
import { listenForStreams, type StreamListener } from '../../../src/streams/transport/streamListener.ts';
import type { StreamSocket } from '../../../src/streams/transport/streamSocket.ts';
import { detectLeaks } from '../../support/leaks.ts';

const UUID = '01a1fd43-0001-7000-8000-0000000000ff';
const HANGUP = Buffer.from([0x00, 0, 0]);
const GRANT: StreamGrant = { projectId: 'p', sessionId: 's', dialect: 'audiosocket' };
const uuidMessage = (uuid: string) =>
  Buffer.concat([Buffer.from([0x01, 0, 16]), Buffer.from(uuid.replaceAll('-', ''), 'hex')]);

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

let voice: StreamListener;
let server: AudioSocketServer;
let served: Promise<StreamSocket>;
let peers: Socket[];
beforeEach(async () => {
  peers = [];
  let serve: (socket: StreamSocket) => void = () => undefined;
  served = new Promise((resolve) => {
    serve = resolve;
  });
  const onError = (error: unknown) => {
    throw error;
  };
  voice = await listenForStreams('127.0.0.1', {
    redeem: async (ticket) => (ticket === 'ticket' ? GRANT : undefined),
    serve: async (_grant, socket) => serve(socket),
    onError,
  });
  const url = `ws://127.0.0.1:${voice.port}/v1/media-streams/ticket`;
  const forward = async (uuid: string) => (uuid === UUID ? url : undefined);
  server = await listenForAudioSockets({ host: '127.0.0.1', port: 0, forward, onError });
});
afterEach(async () => {
  for (const peer of peers) peer.destroy();
  await server.close();
  await voice.close();
});

async function connected(): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: server.port });
  socket.on('error', () => undefined);
  peers.push(socket);
  await once(socket, 'connect');
  return socket;
}

describe('AudioSocket server', () => {
  test('gives the connection of a UUID to a voice thread, in whole messages however they were cut', async () => {
    const asterisk = await connected();
    const bytes = Buffer.concat([uuidMessage(UUID), Buffer.from([0x10, 0, 2, 5]), Buffer.from([0]), HANGUP]);
    asterisk.write(bytes.subarray(0, 7));
    asterisk.write(bytes.subarray(7));
    const socket = await served;
    const messages: number[][] = [];
    const all = new Promise<void>((resolve) => {
      socket.on('message', (data) => {
        messages.push([...data]);
        if (messages.length === 3) resolve();
      });
    });
    await all;
    expect(messages).toEqual([[...uuidMessage(UUID)], [0x10, 0, 2, 5, 0], [...HANGUP]]);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.send(Buffer.from([0x10, 0, 2, 7, 0]), { binary: true });
    expect([...((await once(asterisk, 'data'))[0] as Buffer)]).toEqual([0x10, 0, 2, 7, 0]);
    asterisk.end();
    expect(await closed).toBe(1000);
  });

  test('tells a voice thread for which fault it has closed a connection', async () => {
    const asterisk = await connected();
    asterisk.write(uuidMessage(UUID));
    const socket = await served;
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.close(1008);
    asterisk.resume().end();
    expect(await closed).toBe(1008);
  });

  test.each([
    ['an unknown UUID', uuidMessage('01a1fd43-0001-7000-8000-000000000000')],
    ['another first message', Buffer.from([0x10, 0, 2, 0, 0])],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
  ])('closes a connection with %s', async (_what, bytes) => {
    const peer = await connected();
    const closed = once(peer, 'close');
    peer.resume();
    peer.write(bytes);
    await closed;
  });

  test('is reached by our own gateway in the role of Asterisk', async () => {
    const calls: unknown[] = [];
    const connectStream = createConnectStream({
      clock: systemClock,
      policy: { allowInsecureLoopback: true },
      lookup: async () => ['127.0.0.1'],
    });
    const target = {
      url: `tcp://127.0.0.1:${server.port}`,
      dialect: 'audiosocket',
      streamId: UUID,
      callId: 'CA1',
      customParameters: {},
      canReconnect: false,
    };
    const ended = deferred();
    const client = await connectStream(
      { target, sampleRateHz: 8000, signal: new AbortController().signal },
      {
        audio: (samples) => calls.push([...samples]),
        mark: () => undefined,
        clear: () => undefined,
        command: (command) => calls.push(command),
        failoverPrompts: () => undefined,
        closed: (end) => {
          calls.push(end.how);
          ended.resolve(undefined);
        },
      },
    );
    const socket = await served;
    socket.send(Buffer.from([0x10, 0, 2, 7, 0]), { binary: true });
    socket.send(HANGUP, { binary: true });
    socket.close();
    await ended.promise;
    expect(calls).toEqual([[7], { kind: 'hangup' }, 'stopped']);
    await client.close(1000, '');
  });
});

function deferred() {
  let resolve: (value: unknown) => void = () => undefined;
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
