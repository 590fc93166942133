import { type AddressInfo, connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { ADMIN_TOKEN, createTestApp, type TestApp } from '../support/testApp.ts';

let testApp: TestApp;
let port: number;
beforeAll(async () => {
  testApp = await createTestApp();
  await testApp.app.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = testApp.app.server.address() as AddressInfo);
  // Shorter than in production; the simulated clock drives the body timeout.
  expect(testApp.app.server.headersTimeout).toBe(10_000);
  expect(testApp.app.server.requestTimeout).toBe(3_600_000);
  testApp.app.server.headersTimeout = 300;
});
afterAll(() => testApp.close());

const connections = () => promisify(testApp.app.server.getConnections.bind(testApp.app.server))();

/** Opens a connection that never closes its own half, and sends this text. */
function open(words: string): { socket: Socket; answer: Promise<string> } {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.write(words);
  const answer = new Promise<string>((resolve) => {
    let said = '';
    socket.on('data', (chunk) => {
      said += chunk;
    });
    socket.on('end', () => resolve(said));
    socket.on('error', () => resolve(said));
  });
  return { socket, answer };
}

const REQUEST = `POST /v1/projects HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMIN_TOKEN}\r\ncontent-type: application/json\r\n`;

test.each([
  ['headers that do not end', 'GET /healthz HTTP/1.1\r\nhost: x\r\n'],
  ['half a request line', 'GET /hea'],
])('A client with %s gets 408, and its connection is closed', async (_, words) => {
  const { socket, answer } = open(words);

  expect(await answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*"code":"request_timeout"/);
  await expect.poll(connections).toBe(0);
  socket.destroy();
});

test.each([
  ['a body that does not end', `${REQUEST}content-length: 100\r\n\r\n{"name":`],
  ['a chunk that does not end', `${REQUEST}transfer-encoding: chunked\r\n\r\n5\r\n{"n`],
  ['a body for no route', 'POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"name":'],
  ['a body for no path', 'POST /%zz HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"name":'],
])('A client with %s gets 408 after 30 s, and its connection is closed', async (_, words) => {
  const timers = testApp.clock.pendingTimers();
  const { socket, answer } = open(words);
  await expect.poll(() => testApp.clock.pendingTimers()).toBeGreaterThan(timers);
  testApp.clock.advance(29_000);
  expect(await connections()).toBe(1);
  testApp.clock.advance(2_000);

  expect(await answer).toMatch(/HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*"code":"request_timeout"/);
  await expect.poll(connections).toBe(0);
  socket.destroy();
});

test('A client of OpenAI’s shapes that is too slow gets them too', async () => {
  const timers = testApp.clock.pendingTimers();
  const path = '/v1/projects/p/openai/v1/embeddings';
  const { socket, answer } = open(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"a":`);
  await expect.poll(() => testApp.clock.pendingTimers()).toBeGreaterThan(timers);
  testApp.clock.advance(31_000);
  expect(await answer).toContain(
    '{"error":{"message":"The request cannot be read","type":"invalid_request_error","code":"request_timeout","param":null}}',
  );
  socket.destroy();
});

test('Clients that disconnect in the middle of a body leave no connections', async () => {
  for (let count = 0; count < 20; count += 1) {
    const { socket } = open(`${REQUEST}content-length: 100\r\n\r\n{"name":`);
    socket.once('connect', () => setImmediate(() => socket.destroy()));
  }
  await expect.poll(connections).toBe(0);

  const health = await fetch(`http://127.0.0.1:${port}/healthz`);
  expect(health.status).toBe(200);
});

test('A body shorter than its Content-Length is refused', async () => {
  const { socket, answer } = open(`${REQUEST}content-length: 100\r\n\r\n{"name":`);
  socket.end();

  expect(await answer).not.toMatch(/^HTTP\/1\.1 (2|5)/);
  await expect
    .poll(async () => (await testApp.storage.stores.projects.list({ limit: 1, offset: 0 })).total)
    .toBe(0);
});
