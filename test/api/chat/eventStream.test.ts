import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ClientDisconnectedError } from '../../../src/api/disconnectSignal.ts';
import { KEEP_ALIVE_INTERVAL_MS, STALLED_CLIENT_TIMEOUT_MS } from '../../../src/api/eventStream.ts';
import { saying, type TurnScript } from '../../support/fakeEngine.ts';
import { PROJECT_ID, SECRET_KEY, startTestServer, type TestServer } from '../../support/httpServer.ts';
import { detectLeaks } from '../../support/leaks.ts';

const ROUTE = '/v1/projects/:projectId/chat/completions';
const KEEP_ALIVE = ': keep-alive\n\n';

let assertNoLeaks: () => Promise<void>;
beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

let server: TestServer;
let sockets: Socket[];
beforeEach(async () => {
  server = await startTestServer();
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** A turn whose steps the test triggers, until it is aborted. */
function steered() {
  const steps: (() => void)[] = [];
  const script: TurnScript = async function* (_request, _session, signal) {
    yield { type: 'text', text: 'first' };
    for (let count = 2; ; count += 1) {
      await new Promise<void>((resolve, reject) => {
        steps.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      yield { type: 'text', text: `piece ${count}` };
    }
  };
  return { script, step: () => steps.shift()?.() };
}

/** Sends a request over its own socket, which the test reads and closes. */
function open(body: object) {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  sockets.push(socket);
  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  socket.on('error', () => {});
  const text = JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...body });
  socket.write(
    `POST /v1/projects/${PROJECT_ID}/chat/completions HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${SECRET_KEY}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  return { socket, received: () => received };
}

test('A chat stream sends each output at once', async () => {
  const { script, step } = steered();
  server.conversations.play(script);
  const { received } = open({ stream: true });
  await expect.poll(received).toContain('first');
  expect(received()).not.toContain('piece 2');
  step();
  await expect.poll(received).toContain('piece 2');
  expect(received()).not.toContain('piece 3');
});

test('A chat stream sends a comment every 15 s until its end', async () => {
  const { script, step } = steered();
  server.conversations.play(script);
  const { received, socket } = open({ stream: true });
  await expect.poll(received).toContain('first');
  server.clock.advance(KEEP_ALIVE_INTERVAL_MS - 1);
  step();
  await expect.poll(received).toContain('piece 2');
  expect(received()).not.toContain(KEEP_ALIVE);
  server.clock.advance(1);
  await expect.poll(received).toContain(KEEP_ALIVE);
  server.clock.advance(KEEP_ALIVE_INTERVAL_MS);
  await expect.poll(() => received().split(KEEP_ALIVE).length).toBe(3);
  const timers = server.clock.pendingTimers();
  socket.destroy();
  await expect.poll(() => server.clock.pendingTimers()).toBe(timers - 1);
});

test.each([
  ['a stream', { stream: true }, 200],
  ['a whole answer', { stream: false }, 499],
])(
  'A client that disconnects from %s stops the model at once, and its request is logged',
  async (_, body, status) => {
    server.conversations.play(steered().script);
    const { socket } = open({ ...body, session_id: 's' });
    await expect.poll(() => server.conversations.requests.length).toBe(1);
    if (body.stream) await expect.poll(() => server.conversations.messagesOf('s')).toEqual([]);
    socket.destroy();
    await expect.poll(() => server.conversations.aborted).toEqual([expect.any(ClientDisconnectedError)]);
    await expect.poll(() => server.requestsDone).toEqual([{ method: 'POST', route: ROUTE, status }]);
    expect(server.logLines.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([expect.stringContaining('request completed')]),
    );
    expect(server.logLines.filter(({ level }) => Number(level) >= 40)).toEqual([]);
    const answered = await server.send('POST', `/v1/projects/${PROJECT_ID}/chat/completions`, {
      body: { messages: [] },
    });
    expect(answered.status).toBe(400);
  },
);

test('A client that disconnects before the first output stops the model', async () => {
  const script: TurnScript = async function* (_request, _session, signal) {
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    yield { type: 'text', text: 'never' };
  };
  server.conversations.play(script);
  const { socket } = open({ stream: true });
  await expect.poll(() => server.conversations.requests.length).toBe(1);
  socket.destroy();
  await expect.poll(() => server.conversations.aborted).toEqual([expect.any(ClientDisconnectedError)]);
  await expect.poll(() => server.requestsDone).toEqual([{ method: 'POST', route: ROUTE, status: 499 }]);
});

/** Much larger than the buffers of both ends. */
const FLOOD_PIECES = 2_000;
const FLOOD_PIECE = 'x'.repeat(64 * 1024);

test('A slow client slows the model down and receives everything', async () => {
  let pulled = 0;
  server.conversations.play(async function* () {
    for (; pulled < 400; pulled += 1) yield { type: 'text', text: FLOOD_PIECE };
  });
  const { socket, received } = open({ stream: true });
  socket.pause();
  await expect.poll(() => pulled).toBeGreaterThan(0);
  await settled(() => pulled);
  expect(pulled).toBeLessThan(400);
  socket.resume();
  await expect.poll(received, { timeout: 15_000 }).toContain('[DONE]');
  expect(received().split(FLOOD_PIECE).length - 1).toBe(400);
});

test('A client that reads nothing is disconnected after 60 s', async () => {
  let pulled = 0;
  server.conversations.play(async function* () {
    for (; pulled < FLOOD_PIECES; pulled += 1) yield { type: 'text', text: FLOOD_PIECE };
  });
  const { socket } = open({ stream: true });
  socket.pause();
  await expect.poll(() => pulled).toBeGreaterThan(0);
  await settled(() => pulled);
  server.clock.advance(STALLED_CLIENT_TIMEOUT_MS - 1);
  await settled(() => pulled);
  expect(server.conversations.aborted).toEqual([]);
  server.clock.advance(1);
  await expect.poll(() => server.conversations.aborted.length).toBe(1);
  expect(pulled).toBeLessThan(FLOOD_PIECES);
});

test('A connection can be reused after a stream', async () => {
  server.conversations.play(saying('Hello'));
  const { received, socket } = open({ stream: true });
  await expect.poll(received).toContain('[DONE]');
  socket.write(
    `GET /v1/projects/${PROJECT_ID}/models HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${SECRET_KEY}\r\n\r\n`,
  );
  await expect.poll(received).toContain('"object":"list"');
  await expect.poll(() => server.requestsDone.map(({ status }) => status)).toEqual([200, 200]);
});

/** Waits until a number no longer changes. */
async function settled(read: () => number): Promise<void> {
  let last = -1;
  while (read() !== last) {
    last = read();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
