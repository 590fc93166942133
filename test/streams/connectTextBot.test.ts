import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

import { systemClock } from '../../src/base/values/clock.ts';
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

/** A call with a bot that does this, until it has left. */
async function callOf(act: (bot: WebSocket) => void): Promise<{ isOrderly: boolean; digits: string }> {
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
  let digits = '';
  return await new Promise((resolve, reject) => {
    const listener = {
      ...{ say: ignore, play: ignore, useLanguage: ignore, end: ignore },
      sendDigits: (sent: string) => {
        digits += sent;
      },
      closed: (isOrderly: boolean) => resolve({ isOrderly, digits }),
    };
    connect(target, 'call', listener, new AbortController().signal).catch(reject);
    connected.then(([bot]) => act(bot), reject);
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
  expect((await callOf(leave)).isOrderly).toBe(end === 'hung up');
});

test('A bot of text turns sends no more digits than a person could press', async () => {
  const { digits } = await callOf((bot) => {
    for (let n = 0; n < 100; n++) bot.send(JSON.stringify({ type: 'sendDigits', digits: '0123456789' }));
    bot.close(1000);
  });
  expect(digits.length).toBeGreaterThanOrEqual(200);
  expect(digits.length).toBeLessThan(400);
});

function sendGarbage(bot: WebSocket): void {
  for (let n = 0; n < 100; n++) bot.send('{');
}
