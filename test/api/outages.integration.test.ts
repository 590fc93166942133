import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { type ApiAnswer, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRedis } from '../support/redis.ts';

const WAIT = { timeout: 15_000 };

function expectAway(answer: ApiAnswer, what: 'database' | 'redis') {
  expect(answer).toMatchObject({ status: 503, body: { code: `${what}_unavailable` } });
  expect(answer.headers.get('retry-after')).toBe('5');
  expect(JSON.stringify(answer.body)).not.toMatch(/ECONN|127\.0\.0\.1|SELECT/);
}
const readiness = async (gateway: TestGateway) => {
  const { status, body } = await gateway.api('GET', '/readyz');
  return [status, body.status, body.dependencies];
};

describe('While Redis is down', () => {
  test.each(['stopped', 'silent'] as const)('(%s) routes respond 503 until it is up again', async (how) => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const gateway = await startTestGateway({ env: { REDIS_URL: redis.url } });
    onTestFinished(() => gateway.stop());
    const isReady = () =>
      expect.poll(() => readiness(gateway), WAIT).toEqual([200, 'ready', { database: 'up', redis: 'up' }]);
    await isReady();
    // Commands have two seconds, in which this process must read the answer.
    const { path, developerKey: key } = await vi.waitFor(() => gateway.createProject(), WAIT);
    const ask = () => gateway.api('GET', `${path}/agent`, { key });
    await expect.poll(async () => (await ask()).status, WAIT).toBe(200);

    if (how === 'stopped') await redis.stop();
    else redis.pause();

    await expect
      .poll(() => readiness(gateway), WAIT)
      .toEqual([503, 'not_ready', { database: 'up', redis: 'down' }]);
    if (how === 'stopped') {
      expectAway(await ask(), 'redis');
      expectAway(await gateway.api('POST', '/v1/projects', { body: { name: 'x' } }), 'redis');
    } else {
      // Only time distinguishes a silent server from a slow one.
      await expect.poll(async () => (await ask()).status, WAIT).toBe(503);
      expectAway(await ask(), 'redis');
    }
    expect((await gateway.api('GET', '/healthz')).status).toBe(200);

    if (how === 'stopped') await redis.start();
    else redis.resume();
    await expect.poll(async () => (await ask()).status, WAIT).toBe(200);
    await isReady();
  });

  test('a key that was revoked before the outage is refused after it', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.close());
    const gateway = await startTestGateway({ env: { REDIS_URL: redis.url } });
    onTestFinished(() => gateway.stop());
    const project = await gateway.createProject();
    const { id, key } = await gateway.createKey(project);
    const ask = () => gateway.api('GET', `${project.path}/agent`, { key });
    expect((await ask()).status).toBe(200);

    await gateway.api('DELETE', `${project.path}/api-keys/${id}`);
    await redis.stop('kill9');
    await redis.start();

    await expect.poll(async () => (await gateway.api('GET', project.path)).status, WAIT).toBe(200);
    expect((await ask()).status).toBe(401);
  });
});

describe('While Postgres is down', () => {
  test('routes respond 503; afterwards no data is lost', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.close());
    const gateway = await startTestGateway({ env: { DATABASE_URL: postgres.url } });
    onTestFinished(() => gateway.stop());
    const { path, developerKey: key } = await gateway.createProject();
    const ask = () => gateway.api('GET', `${path}/agent`, { key });
    const before = await ask();

    await postgres.stop('immediate');

    expect(await readiness(gateway)).toEqual([503, 'not_ready', { database: 'down', redis: 'up' }]);
    expectAway(await ask(), 'database');
    expectAway(await gateway.api('PATCH', `${path}/agent`, { key, body: { name: 'x' } }), 'database');
    const headers = { 'idempotency-key': 'while-away' };
    const create = () => gateway.api('POST', `${path}/test-cases`, { key, headers, body: { name: 'x' } });
    expectAway(await create(), 'database');
    expect((await gateway.api('GET', '/healthz')).status).toBe(200);

    await postgres.start();
    expect((await ask()).body).toEqual(before.body);
    const created = await create();
    expect([created.status, created.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect(await readiness(gateway)).toEqual([200, 'ready', { database: 'up', redis: 'up' }]);
  });
});

describe('A shutdown', () => {
  test('closes idle connections, answers requests on busy ones, and ends with the last', async () => {
    const gateway = await startTestGateway();
    const { path, developerKey } = await gateway.createProject();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const body = JSON.stringify({ name: 'begun before the stop' });
    const upload = request(`${gateway.url}${path}/test-cases`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${developerKey}`,
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      },
    });
    const answered = new Promise<[number | undefined, string]>((resolve, reject) => {
      upload.once('response', (response) => {
        void text(response).then((said) => resolve([response.statusCode, said]), reject);
      });
      upload.once('error', reject);
    });
    upload.flushHeaders();
    // A connection is busy once the request's headers have arrived.
    await once(upload, 'continue');
    upload.write(body.slice(0, 5));

    const stopped = gateway.stop();
    upload.end(body.slice(5));

    const [status, said] = await answered;
    expect([status, JSON.parse(said).name]).toEqual([201, 'begun before the stop']);
    await stopped;
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
    await gateway.stop();
  });

  test('closes connections that have sent no request, or a part of its head', async () => {
    const gateway = await startTestGateway();
    const { hostname, port } = new URL(gateway.url);
    const sent = ['', 'GET /healthz HTTP/1.1\r\nHost', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /h'];
    const sockets = sent.map((part) => {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.write(part);
      return socket;
    });
    // The connections before it are accepted then.
    await Promise.all(sockets.slice(2).map((socket) => once(socket, 'data')));
    const closed = sockets.map((socket) => once(socket.resume(), 'close'));
    await gateway.stop();
    await Promise.all(closed);
  });

  test('is visible at /readyz on a connection that is still open', async () => {
    const gateway = await startTestGateway();
    onTestFinished(() => gateway.stop());
    const { path, developerKey } = await gateway.createProject();
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    const body = JSON.stringify({ name: 'begun before the stop' });
    socket.write(
      [
        `POST ${path}/test-cases HTTP/1.1`,
        'Host: callway',
        `Authorization: Bearer ${developerKey}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Expect: 100-continue',
        '\r\n',
      ].join('\r\n'),
    );
    const [goOn] = await once(socket, 'data');
    expect(String(goOn)).toBe('HTTP/1.1 100 Continue\r\n\r\n');

    const stopped = gateway.stop();
    // The shutdown does not close a connection with an unfinished request.
    socket.write(`${body}GET /readyz HTTP/1.1\r\nHost: callway\r\n\r\n`);

    const [first = '', second = ''] = (await text(socket)).split(/(?<=\})(?=HTTP)/);
    expect(first).toMatch(/^HTTP\/1\.1 201 /);
    expect(second).toMatch(/^HTTP\/1\.1 503 /);
    expect(second).toMatch(/^connection: close\r$/im);
    expect(JSON.parse(second.slice(second.indexOf('{')))).toEqual({
      status: 'draining',
      dependencies: { database: 'up', redis: 'up' },
      providers: { local: { status: 'up' } },
    });
    await stopped;
  });
});
