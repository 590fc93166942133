import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { openThreadChannel } from '../../../src/media/agentStream/threadChannel.ts';
import { ChannelSocket } from '../../../src/streams/transport/channelSocket.ts';
import { CLOSED, CLOSING, OPEN, sendMessage } from '../../../src/streams/transport/streamSocket.ts';

/** An end with all that it emits. */
function record(socket: ChannelSocket): unknown[][] {
  const events: unknown[][] = [];
  socket.on('message', (data: Buffer, isBinary) =>
    events.push(['message', isBinary, data.toString('latin1')]),
  );
  socket.on('pong', () => events.push(['pong']));
  socket.on('close', (code, reason: Buffer) => events.push(['close', code, String(reason)]));
  return events;
}

describe('ChannelSocket', () => {
  let [ours, theirs]: ChannelSocket[] = [];
  let heard: unknown[][];
  let answered: unknown[][];
  const ends = () => {
    if (!ours || !theirs) throw new Error('the channel is not open');
    return { ours, theirs };
  };
  beforeEach(() => {
    [ours, theirs] = openThreadChannel().map((channel) => new ChannelSocket(channel));
    [answered, heard] = [record(ends().ours), record(ends().theirs)];
  });
  afterEach(() => ends().ours.terminate());

  test('carries texts and bytes in order, and the bytes of a view alone', async () => {
    const { ours, theirs } = ends();
    const sizes: number[] = [];
    theirs.on('message', ({ buffer }: Buffer, isBinary) => isBinary && sizes.push(buffer.byteLength));
    sendMessage(ours, 'start');
    sendMessage(ours, Buffer.from('all the audio').subarray(8));
    sendMessage(theirs, Uint8Array.of(1, 2));
    await expect
      .poll(() => [heard, answered])
      .toEqual([
        [
          ['message', false, 'start'],
          ['message', true, 'audio'],
        ],
        [['message', true, '\x01\x02']],
      ]);
    expect(sizes).toEqual([5]);
  });

  test('counts the bytes that the other thread has not read yet', async () => {
    const { ours, theirs } = ends();
    for (let n = 0; n < 3; n++) sendMessage(ours, new Uint8Array(320));
    expect([ours.bufferedAmount, theirs.bufferedAmount]).toEqual([960, 0]);
    await expect.poll(() => ours.bufferedAmount).toBe(0);
  });

  test('is answered by the other thread when it pings', async () => {
    ends().ours.ping();
    await expect.poll(() => answered).toEqual([['pong']]);
    expect(heard).toEqual([]);
  });

  test('closes with a code and a reason for both ends, after the messages before it', async () => {
    const { ours, theirs } = ends();
    sendMessage(ours, 'stop');
    ours.close(1000, 'the call has ended');
    ours.close(1011, 'once more');
    sendMessage(ours, 'too late');
    expect([ours.readyState, theirs.readyState]).toEqual([CLOSING, OPEN]);
    const close = ['close', 1000, 'the call has ended'];
    await expect.poll(() => [heard, answered]).toEqual([[['message', false, 'stop'], close], [close]]);
    expect([ours.readyState, theirs.readyState]).toEqual([CLOSED, CLOSED]);
  });

  test('tells the other end that it was lost when it is terminated', async () => {
    ends().theirs.terminate();
    await expect.poll(() => [heard, answered]).toEqual(Array(2).fill([['close', 1006, '']]));
  });

  test('is closed when the thread of the other end dies', async () => {
    const [kept, given] = openThreadChannel();
    const events = record(new ChannelSocket(kept));
    const thread = new Worker(
      `require('node:worker_threads').parentPort.once('message', ({ port }) => port.ref())`,
      {
        eval: true,
      },
    );
    thread.postMessage(given, [given.port]);
    await once(thread, 'online');
    await thread.terminate();
    await expect.poll(() => events).toEqual([['close', 1006, '']]);
  });
});
