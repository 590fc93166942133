import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { PacketSocket } from '../../../src/media/transport/packetIo.ts';
import { udpPacketIo } from '../../../src/media/transport/udpSocket.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { reservePort } from '../../support/ports.ts';

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

/** On an explicit port: one that the system has chosen is lost when the socket is disconnected. */
async function bind(address = '127.0.0.1', port?: number): Promise<PacketSocket> {
  const socket = await udpPacketIo.bind({ address, port: port ?? (await reservePort()) });
  onTestFinished(() => socket.close());
  return socket;
}

async function startPeer(): Promise<{ socket: Socket; at: { address: string; port: number } }> {
  const socket = createSocket('udp4');
  const listening = once(socket, 'listening');
  socket.bind(0, '127.0.0.1');
  await listening;
  onTestFinished(() => void socket.close());
  return { socket, at: { address: '127.0.0.1', port: socket.address().port } };
}

describe('udpPacketIo', () => {
  it('sends and receives, with the sender’s address', async () => {
    const [ours, { socket: peer, at }] = [await bind(), await startPeer()];
    const heard = new Promise((resolve) => {
      ours.listen((bytes, address, port) => resolve([[...bytes], address, port]));
    });
    peer.send(Uint8Array.of(1, 2, 3), ours.port, '127.0.0.1');
    expect(await heard).toEqual([[1, 2, 3], '127.0.0.1', at.port]);
    const answered = once(peer, 'message');
    const bytes = Uint8Array.of(4, 5);
    ours.send(bytes, at);
    // Sent bytes may be overwritten.
    bytes.fill(9);
    expect([...((await answered)[0] as Buffer)]).toEqual([4, 5]);
  });

  it('filters by one source on request, and sends meanwhile', async () => {
    const [ours, friend, stranger] = [await bind(), await startPeer(), await startPeer()];
    const ports: number[] = [];
    ours.listen((_bytes, _address, port) => ports.push(port));
    const bothSend = async () => {
      ports.length = 0;
      for (const { socket } of [stranger, friend]) socket.send(Uint8Array.of(1), ours.port, '127.0.0.1');
      await sleep(50);
      return ports.toSorted();
    };
    const all = [friend.at.port, stranger.at.port].toSorted();
    expect(await bothSend()).toEqual(all);
    ours.only(friend.at);
    expect(await bothSend()).toEqual([friend.at.port]);
    const heard = once(friend.socket, 'message');
    ours.send(Uint8Array.of(7), friend.at);
    expect([...((await heard)[0] as Buffer)]).toEqual([7]);
    ours.only(undefined);
    expect(await bothSend()).toEqual(all);
    ours.only(friend.at);
    const elsewhere = once(stranger.socket, 'message');
    ours.send(Uint8Array.of(8), stranger.at);
    expect([...((await elsewhere)[0] as Buffer)]).toEqual([8]);
    expect(await bothSend()).toEqual(all);
    expect(ours.failures).toBe(0);
  });

  it('rejects a port in use, and counts packets that cannot be sent', async () => {
    const ours = await bind();
    await expect(bind('127.0.0.1', ours.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    ours.send(Uint8Array.of(1), { address: '127.0.0.1', port: 0 });
    expect(ours.failures).toBe(1);
  });

  it('closes once, and drops packets afterwards', async () => {
    const ours = await bind();
    await Promise.all([ours.close(), ours.close()]);
    ours.send(Uint8Array.of(1), { address: '127.0.0.1', port: 9 });
    ours.only({ address: '127.0.0.1', port: 9 });
    expect(ours.failures).toBe(0);
  });

  it('works with IPv6', async () => {
    const [ours, theirs] = [await bind('::1'), await bind('::1')];
    const heard = new Promise((resolve) => {
      theirs.listen((bytes, address) => resolve([[...bytes], address]));
    });
    ours.send(Uint8Array.of(6), { address: '::1', port: theirs.port });
    expect(await heard).toEqual([[6], '::1']);
  });
});
