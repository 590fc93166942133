import { expect, test } from 'vitest';

import { systemClock } from '../../src/base/clock.ts';
import type { LoggedDelivery } from '../../src/webhooks/deliveryStore.ts';
import { createWebhookAdmin } from '../../src/webhooks/webhookAdmin.ts';

const PAGE = { limit: 5, offset: 0 };
const delivery: LoggedDelivery = {
  webhook: 'postSessionWebhook',
  id: 'd',
  attempt: 1,
  sessionId: 's',
  event: 'session.ended',
  url: 'https://example.com/',
  status: 204,
  durationMs: 3,
  error: null,
  at: '2026-01-01T00:00:00.000Z',
  body: '{"a":"secret words"}',
  answer: 'thanks',
};
const error = { code: 'unexpected_status', message: 'm' };
const unused = async () => {
  throw new Error('not used here');
};

test.each([
  ['an answer of 2xx', {}, true],
  ['another answer', { status: 500, error }, false],
  ['no answer', { status: null, error: { code: 'timeout', message: 'm' } }, false],
])('WebhookAdmin summarizes a delivery with %s', async (_what, change, ok) => {
  const admin = createWebhookAdmin({
    deliveries: {
      list: async () => ({ items: [{ ...delivery, ...change }], total: 7, nextCursor: 'next' }),
      find: unused,
    },
    queue: { repeat: unused },
    clock: systemClock,
    onQueued: () => undefined,
    secrets: { current: unused, rotate: unused },
  });
  const { id: _id, body: _body, ...shown } = { ...delivery, ...change };
  expect(await admin.deliveries('p', {}, PAGE)).toEqual({
    items: [{ ...shown, deliveryId: 'd', ok }],
    total: 7,
    nextCursor: 'next',
  });
});
