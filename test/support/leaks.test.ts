import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { detectLeaks } from './leaks.ts';

interface Leak {
  readonly what: string;
  readonly kind: RegExp;
  /** Opens the resource. @returns Closes it. */
  begin(): Promise<() => unknown>;
}

const leaks: Leak[] = [
  {
    what: 'a timer',
    kind: /Timeout/,
    begin: async () => {
      const timer = setTimeout(() => undefined, 60_000);
      return () => clearTimeout(timer);
    },
  },
  {
    what: 'a TCP server',
    kind: /TCPServerWrap/,
    begin: async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return () => server.close();
    },
  },
  {
    what: 'a UDP socket',
    kind: /UDPWrap/,
    begin: async () => {
      const socket = createSocket('udp4');
      socket.bind(0, '127.0.0.1');
      await once(socket, 'listening');
      return () => socket.close();
    },
  },
  {
    what: 'a worker',
    kind: /1 Worker/,
    begin: async () => {
      const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
      await once(worker, 'online');
      return () => worker.terminate();
    },
  },
];

test.each(leaks)('$what that is still open is reported', async ({ kind, begin }) => {
  const assertNoLeaks = detectLeaks({ graceMs: 300 });
  const end = await begin();
  await expect(assertNoLeaks()).rejects.toThrow(kind);
  await end();
});

test.each(leaks)('$what that was closed is not reported', async ({ begin }) => {
  const assertNoLeaks = detectLeaks();
  const end = await begin();
  void end();
  await assertNoLeaks();
});
