import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

import { systemClock } from '../../src/base/clock.ts';
import { createConnectTextBot } from '../../src/streams/connectTextBot.ts';
import { detectLeaks } from '../support/leaks.ts';

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

let server: WebSocketServer;
beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
});
afterEach(async () => {
  for (const socket of server.clients) socket.terminate();
  await new Promise((resolve) => server.close(resolve));
});

const ignore = () => undefined;

/** A call with a bot that leaves in this way. @returns Whether the call was told that the bot has hung up. */
async function isOrderlyEnd(leave: (bot: WebSocket) => void): Promise<boolean> {
  const connect = createConnectTextBot({
    clock: systemClock,
    policy: { allowInsecureLoopback: true },
    lookup: async () => ['127.0.0.1'],
    unseal: (sealed) => sealed,
    onMalformed: ignore,
  });
  const target = {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dialect: 'conversationrelay',
    streamId: 'st',
    sealedHeaders: '{}',
    customParameters: {},
  };
  const connected = once(server, 'connection');
  return await new Promise((resolve, reject) => {
    const listener = { say: ignore, play: ignore, sendDigits: ignore, useLanguage: ignore, end: ignore };
    const { signal } = new AbortController();
    connect(target, 'call', { ...listener, closed: resolve }, signal).catch(reject);
    connected.then(([bot]) => leave(bot), reject);
  });
}

test.each<readonly [string, 'hung up' | 'failed', (bot: WebSocket) => void]>([
  ['closes in order', 'hung up', (bot) => bot.close(1000)],
  ['breaks off', 'failed', (bot) => bot.terminate()],
  ['sends what cannot be read', 'failed', (bot) => sendGarbage(bot)],
  [
    'sends what cannot be read, and answers no close',
    'failed',
    (bot) => {
      sendGarbage(bot);
      bot.pause();
    },
  ],
])('A bot of text turns that %s has %s', async (_how, end, leave) => {
  expect(await isOrderlyEnd(leave)).toBe(end === 'hung up');
});

function sendGarbage(bot: WebSocket): void {
  for (let n = 0; n < 100; n++) bot.send('{');
}
