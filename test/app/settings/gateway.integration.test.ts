import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { openPostgres } from '../../../src/infra/postgres/connection/postgres.ts';
import { startTestGateway, type TestGateway, type TestProject } from '../../support/gateway.ts';
import { type LoopbackServer, serveOnLoopback } from '../../support/loopbackServer.ts';
import { reservePort } from '../../support/ports.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

/** One gateway with settings unlike the defaults, whose effects are seen from outside. */

const FINALIZE_SECONDS = 777;

let server: TestDatabase;
let database: ReturnType<typeof openPostgres>;
let gateway: TestGateway;
let project: TestProject;
let metricsPort: number;
let audioSocketPort: number;
let silentReceiver: LoopbackServer;

beforeAll(async () => {
  server = await createTestDatabase('newest');
  database = openPostgres({ url: server.url, onIdleError: () => undefined });
  metricsPort = await reservePort();
  audioSocketPort = await reservePort();
  silentReceiver = await serveOnLoopback(() => undefined);
  gateway = await startTestGateway({
    env: {
      DATABASE_URL: server.url,
      HOST: '127.0.0.2',
      PUBLIC_URL: 'https://calls.example.com',
      CONSOLE: 'false',
      TRUST_PROXY: '1',
      RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '2',
      LEGACY_SUNSET: '2026-02-01',
      NUMBER_OWNERSHIP: 'verified',
      METRICS_PORT: String(metricsPort),
      AUDIOSOCKET_PORT: String(audioSocketPort),
      FINALIZE_TIMEOUT_SECONDS: String(FINALIZE_SECONDS),
      ALLOW_INSECURE_WEBHOOKS: 'true',
      OPENAI_API_KEY: 'unused',
      CHAT_PROVIDER: 'local',
      EMBEDDING_PROVIDER: 'local',
    },
  });
  project = await gateway.createProject();
});
afterAll(async () => {
  await silentReceiver.close();
  await gateway.stop();
  await database.close();
  await server.drop();
});

const api = (method: string, path: string, body?: object) =>
  gateway.api(method, project.path + path, { key: project.developerKey, ...(body && { body }) });

test('HOST is the address of the HTTP server', () => {
  expect(new URL(gateway.url).hostname).toBe('127.0.0.2');
});

test('PUBLIC_URL is the address in links', async () => {
  const { body } = await gateway.api('GET', '/openapi.json', { key: null });
  expect(body.servers).toEqual([expect.objectContaining({ url: 'https://calls.example.com' })]);
});

test('CONSOLE false leaves the pages and their sign-in out, and the widget works', async () => {
  const statusOf = async (path: string) => (await fetch(gateway.url + path)).status;
  const statuses = await Promise.all(['/console/', '/console/session', '/widget.js'].map(statusOf));
  expect(statuses).toEqual([404, 404, 200]);
});

test('TRUST_PROXY counts failures by the address that the proxy names', async () => {
  const refused = (address: string) =>
    gateway
      .api('GET', project.path, {
        key: 'sk_wrong',
        headers: { 'x-forwarded-for': `203.0.113.1, ${address}` },
      })
      .then(({ status }) => status);
  for (const address of ['198.51.100.1', '198.51.100.2', '198.51.100.3'])
    expect([await refused(address), await refused(address)]).toEqual([401, 401]);
  expect(await refused('198.51.100.1')).toBe(429);
});

test('LEGACY_SUNSET ends the legacy routes', async () => {
  const { status } = await fetch(`${gateway.url}/project/${project.id}/session/s`);
  expect(status).toBe(410);
});

test('NUMBER_OWNERSHIP verified makes each claim pending, on an installation of one project too', async () => {
  await api('POST', '/trunks', { name: 'Carrier', host: 'sip.example.com' });
  const { status, body } = await api('POST', '/phone-numbers', { number: '+886223456789' });
  expect([status, body.verified]).toEqual([201, false]);
});

test('METRICS_PORT has the metrics, and the API has them no longer', async () => {
  const text = await (await fetch(`http://127.0.0.2:${metricsPort}/metrics`)).text();
  expect(text).toContain('callway_http_request_duration_seconds');
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
});

test('AUDIOSOCKET_PORT takes the streams of Asterisk, and closes one without a known UUID', async () => {
  const { status, body } = await api('POST', '/media-streams', { dialect: 'audiosocket' });
  expect([status, body.url]).toEqual([201, `tcp://calls.example.com:${audioSocketPort}`]);
  const asterisk = connect({ host: '127.0.0.2', port: audioSocketPort });
  const closed = once(asterisk.resume(), 'close');
  // A UUID: kind, length in network byte order, payload.
  asterisk.write(Buffer.concat([Buffer.from([0x01, 0, 16]), Buffer.alloc(16)]));
  await closed;
});

test('FINALIZE_TIMEOUT_SECONDS is what session.finalized waits at most', async () => {
  const url = `http://127.0.0.1:${silentReceiver.port}`;
  await api('PATCH', '/agent', { postSessionWebhook: { url, events: ['session.ended'] } });
  const messages = [{ role: 'user', content: 'Hi.' }];
  const chat = await gateway.api('POST', `${project.path}/chat/completions`, {
    key: project.developerKey,
    headers: { 'x-agent-version': 'draft' },
    body: { messages, session_id: 'ends' },
  });
  expect(chat.status).toBe(200);
  expect((await api('DELETE', '/sessions', { session_id: 'ends' })).status).toBe(200);
  const [row] = await database.query<{ seconds: string }>(
    `SELECT extract(epoch FROM finalize_by - ended_at) AS seconds
     FROM webhook_outbox JOIN session_history USING (instance_id)`,
  );
  expect(Number(row?.seconds)).toBeCloseTo(FINALIZE_SECONDS, 0);
});

test('EMBEDDING_PROVIDER local embeds documents here, although an endpoint is configured', async () => {
  const created = await api('POST', '/knowledgebases', {
    name: 'Shop',
    type: 'pgvector',
    embeddingModelName: 'text-embedding-3-small',
  });
  expect(created.status).toBe(201);
  const rows = await database.query<{ encoder: string }>('SELECT encoder FROM knowledgebases');
  expect(rows).toEqual([{ encoder: 'energetic-ai-embeddings-en' }]);
});
