import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { pacedConnector } from '../../src/http/pacedSocket.ts';

test('A socket gives 16 KiB in each turn of the event loop, in pieces, and all that was sent', async () => {
  const stream = new PassThrough({ highWaterMark: 1_000_000 });
  const sent = randomBytes(200_001);
  stream.end(sent);
  const connect = pacedConnector({}, () => (_target, callback) => callback(null, stream as never as Socket));
  const socket = await new Promise<Socket>((resolve, reject) =>
    connect({ hostname: '', protocol: '', port: '' }, (error, connected) =>
      connected ? resolve(connected) : reject(error),
    ),
  );
  let isOver = false;
  let lengthOfTurn = 0;
  const turn = () => {
    lengthOfTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const pieces: Buffer[] = [];
  let longestTurn = 0;
  socket.on('readable', () => {
    for (let piece = socket.read(); piece !== null; piece = socket.read()) {
      pieces.push(piece);
      lengthOfTurn += piece.length;
      longestTurn = Math.max(longestTurn, lengthOfTurn);
    }
  });
  await once(socket, 'end');
  isOver = true;
  expect(longestTurn).toBe(16_384);
  expect(Math.max(...pieces.map(({ length }) => length))).toBe(1024);
  expect(Buffer.concat(pieces).equals(sent)).toBe(true);
});
