import { randomBytes } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { createSealer } from '../../src/base/sealer.ts';
import type { Call } from '../../src/calls/call.ts';
import { openPostgres } from '../../src/infra/postgres/connection/postgres.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { startTestGateway, type TestGateway, type TestProject } from '../support/gateway.ts';
import { type LoopbackServer, serveOnLoopback } from '../support/loopbackServer.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { redisDatabase } from '../support/redis.ts';

const FROM = '+886223456789';
/** The sweep runs every ten seconds and may just have run. */
const SWEPT_MS = 30_000;

let gateways: TestGateway[];
let closers: (() => Promise<unknown>)[];
let storage: ReturnType<typeof createStorage>;
let aged: (call: Call, createdAt: string) => Promise<unknown>;
let receiver: LoopbackServer;
let project: TestProject;
// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
const received: any[] = [];

beforeAll(async () => {
  receiver = await serveOnLoopback(async (request, response) => {
    received.push(await json(request));
    response.writeHead(204).end();
  });
  const [database, redis] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
  const key = randomBytes(32);
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    CALLWAY_ADMIN_TOKEN: randomBytes(24).toString('hex'),
    SECRETS_KEY: key.toString('base64'),
    ALLOW_INSECURE_WEBHOOKS: 'true',
  };
  gateways = [await startTestGateway({ env }), await startTestGateway({ env })];
  const opened = openPostgres({ url: database.url, onIdleError: () => undefined });
  storage = createStorage(opened, createSealer(key));
  aged = ({ id }, createdAt) =>
    opened.query('UPDATE calls SET created_at = $2 WHERE id = $1', [id, createdAt]);
  closers = [
    () => receiver.close(),
    redis.drop,
    database.drop,
    () => opened.close(),
    ...gateways.map((gateway) => () => gateway.stop()),
  ];
  project = await first().createProject();
  const events = ['session.ended', 'call.ended', 'recording.ready', 'session.finalized'];
  const postSessionWebhook = { url: `http://127.0.0.1:${receiver.port}/hook`, events };
  await api('PUT', '/agent', { status: 'published', postSessionWebhook });
  await api('POST', '/trunks', { name: 'Carrier', host: 'sip.example.com' });
  await api('POST', '/phone-numbers', { number: FROM });
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

function first(): TestGateway {
  const [gateway] = gateways;
  if (!gateway) throw new Error('no gateway');
  return gateway;
}
const api = (method: string, path: string, body?: object) =>
  first().api(method, project.path + path, {
    key: project.developerKey,
    ...(body === undefined ? {} : { body }),
  });
const order = async (toNumber: string): Promise<Call> => {
  const { status, body } = await first().api('POST', '/v1/calls/outbound', {
    key: project.developerKey,
    body: { projectId: project.id, fromNumber: FROM, toNumber },
  });
  expect(status).toBe(202);
  const call = await storage.stores.calls.find(project.id, body.callId);
  if (!call) throw new Error('an accepted call was not stored');
  return call;
};

test(
  'A call whose node died ends with the time when the node was last seen, and sends its four webhooks once, in order',
  async () => {
    const call = await order('0912345601');
    const { calls } = storage.stores;
    const seenAt = new Date(Date.now() - 31_000);
    const answeredAt = new Date(seenAt.getTime() - 20_000).toISOString();
    await aged(call, answeredAt);
    // As a node does at its start.
    await calls.recordHeartbeat('dead-node', seenAt);
    await calls.claim(call.id, 'dead-node');
    await calls.update(call.id, 'dead-node', { status: 'in_progress', startedAt: answeredAt, answeredAt });

    await vi.waitFor(() => expect(received.at(-1)?.event).toBe('session.finalized'), { timeout: SWEPT_MS });
    const shown = await api('GET', `/calls/${call.id}`);
    expect(shown.body).toMatchObject({
      status: 'failed',
      endReason: 'node_lost',
      endedAt: seenAt.toISOString(),
      durationMs: 20_000,
      recording: { status: 'failed' },
    });
    const told = { callId: call.id, status: 'failed', durationMs: 20_000 };
    expect(received).toMatchObject([
      { event: 'session.ended', call: told },
      { event: 'call.ended', occurredAt: seenAt.toISOString(), call: told },
      { event: 'recording.ready', recording: { status: 'failed' } },
      { event: 'session.finalized', endReason: 'node_lost', recording: { status: 'failed' }, call: told },
    ]);
    expect(await calls.listUnsettledOn('dead-node')).toEqual([]);
    const again = await order('0912345601');
    expect(again.toNumber).toBe(call.toNumber);
  },
  SWEPT_MS + 15_000,
);
