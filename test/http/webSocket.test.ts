import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openWebSocket } from '../../src/http/webSocket.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

test('A message that comes with the handshake is not lost', async () => {
  const server = createServer((socket) => {
    socket.once('data', (request) => {
      const key = /sec-websocket-key: (.+)\r\n/i.exec(String(request))?.[1] ?? '';
      const accept = createHash('sha1')
        .update(key + GUID)
        .digest('base64');
      const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
      socket.write(Buffer.concat([Buffer.from(head), Buffer.from([0x81, 5]), Buffer.from('hello')]));
    });
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const options = { timeoutMs: 5000, maxMessageBytes: 1000 };
  const socket = await openWebSocket(
    new URL(`ws://127.0.0.1:${port}`),
    options,
    new AbortController().signal,
  );
  const [data] = await once(socket, 'message');
  socket.terminate();
  expect(String(data)).toBe('hello');
});
