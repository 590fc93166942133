import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import type { DeliverySummary } from '../../../../src/webhooks/webhookAdmin.ts';
import {
  ADMIN_TOKEN,
  DEVELOPER_KEY,
  PROJECT_ID,
  startTestServer,
  type TestServer,
} from '../../../support/httpServer.ts';
import { detectLeaks } from '../../../support/leaks.ts';

const BASE = `/v1/projects/${PROJECT_ID}`;
const UNTIL = '2026-01-02T00:00:00.000Z';
const DELIVERY: DeliverySummary = {
  deliveryId: 'd-1',
  attempt: 1,
  webhook: 'postSessionWebhook',
  event: 'session.ended',
  sessionId: 's',
  url: 'https://example.com/hook',
  at: '2026-01-01T00:00:00.000Z',
  ok: false,
  status: null,
  durationMs: 10_000,
  error: { code: 'timeout', message: 'The receiver did not answer' },
  answer: null,
};

let assertNoLeaks: () => Promise<void>;
let server: TestServer;
let asked: unknown[];
let rotations: number;
beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  server = await startTestServer({
    webhookAdmin: {
      async deliveries(...wanted) {
        asked.push(wanted);
        return { items: [DELIVERY], total: 1, nextCursor: 'next' };
      },
      async delivery(...wanted) {
        asked.push(wanted);
        return { ...DELIVERY, body: '{"event":"session.ended"}' };
      },
      secret: async () => ({ secret: 'whsec_old', previousValidUntil: null }),
      async rotate() {
        rotations += 1;
        return { secret: `whsec_${rotations}`, previousValidUntil: UNTIL };
      },
    },
  });
});
afterAll(async () => {
  await server.close();
  await assertNoLeaks();
});
beforeEach(() => {
  asked = [];
  rotations = 0;
  server.audit.length = 0;
});

test('A webhook delivery is shown with its body', async () => {
  const { status, body } = await server.send('GET', `${BASE}/webhook-deliveries/d-1`);
  expect({ status, body }).toEqual({ status: 200, body: { ...DELIVERY, body: '{"event":"session.ended"}' } });
  expect(asked).toEqual([[PROJECT_ID, 'd-1']]);
});

test('Webhook deliveries can be filtered by session and event', async () => {
  const { status, body } = await server.send('GET', `${BASE}/webhook-deliveries`);
  expect([status, body]).toEqual([
    200,
    { data: [DELIVERY], pagination: { limit: 50, offset: 0, total: 1, nextCursor: 'next' } },
  ]);
  await server.send('GET', `${BASE}/webhook-deliveries?sessionId=s&event=session.ended&limit=1`);
  expect(asked).toEqual([
    [PROJECT_ID, {}, { limit: 50, offset: 0 }],
    [PROJECT_ID, { sessionId: 's', event: 'session.ended' }, { limit: 1, offset: 0 }],
  ]);
  expect((await server.send('GET', `${BASE}/webhook-deliveries?event=call.began`)).status).toBe(400);
});

test('A rotation returns the new secret; the audit log does not contain it', async () => {
  expect((await server.send('GET', `${BASE}/webhook-secret`, { key: ADMIN_TOKEN })).body).toEqual({
    secret: 'whsec_old',
    previousValidUntil: null,
  });
  const { body } = await server.send('POST', `${BASE}/webhook-secret/rotate`, { key: ADMIN_TOKEN });
  expect(body).toEqual({ secret: 'whsec_1', previousValidUntil: UNTIL });
  expect(server.audit).toMatchObject([
    { action: 'webhook_secret.rotated', projectId: PROJECT_ID, target: PROJECT_ID },
  ]);
  expect(JSON.stringify(server.audit)).not.toContain('whsec_');
});

test('A repeated rotation changes nothing and does not show the secret', async () => {
  const rotate = () =>
    server.send('POST', `${BASE}/webhook-secret/rotate`, {
      key: DEVELOPER_KEY,
      headers: { 'idempotency-key': 'k' },
    });
  expect((await rotate()).body.secret).toBe('whsec_1');
  const again = await rotate();
  expect(again.body).toEqual({ secret: null, previousValidUntil: UNTIL });
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(rotations).toBe(1);
  expect(server.audit).toHaveLength(1);
});

test('The signing secret of an unknown project is 404', async () => {
  const other = '/v1/projects/019ceb00-0000-7f00-8a4b-5c6d7e8f9a0b/webhook-secret';
  expect((await server.send('GET', other, { key: ADMIN_TOKEN })).status).toBe(404);
});
