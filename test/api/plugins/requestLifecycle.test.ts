import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { PROJECT_ID, startTestServer, type TestServer } from '../../support/httpServer.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.requestsDone.length = 0;
  server.logLines.length = 0;
});

const [DEBUG, INFO] = [20, 30];

test.each<[string, string, number, string, number]>([
  ['GET', '/healthz', 200, '/healthz', DEBUG],
  ['GET', `/v1/projects/${PROJECT_ID}/agent`, 401, '/v1/projects/:projectId/agent', DEBUG],
  ['DELETE', '/healthz', 405, '/healthz', INFO],
  ['GET', '/nowhere', 404, 'unknown', DEBUG],
  ['POST', '/nowhere', 404, 'unknown', INFO],
  ['GET', '/v1/%00', 400, 'unknown', DEBUG],
  ['GET', '/v1/%zz', 400, 'unknown', DEBUG],
])('%s %s is observed once and has one log line with its id', async (method, path, status, route, level) => {
  const answer = await server.send(method, path, { key: null, headers: { 'x-request-id': 'of-the-test' } });

  expect(answer.status).toBe(status);
  await expect.poll(() => server.requestsDone).toEqual([{ method, route, status }]);
  const lines = server.logLines.filter(({ msg }) => msg === 'request completed');
  expect(lines).toMatchObject([{ requestId: 'of-the-test', method, route, status, level }]);
});

test.each([
  ['an ordinary route', `/v1/projects/${PROJECT_ID}/agent`, '401'],
  ['no route', '/nowhere', '404'],
  ['a path that cannot be read', '/%zz', '400'],
])('An upgrade request to %s gets a response, then the connection is closed', async (_, path, status) => {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`,
  );
  expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*"code":`));
});
