import { expect, test } from 'vitest';
import type { LoggedDelivery } from '../../src/webhooks/deliveryStore.ts';
import type { EventQueueStore } from '../../src/webhooks/eventQueue.ts';
import type { SigningSecrets } from '../../src/webhooks/signingSecrets.ts';
import { createWebhookAdmin } from '../../src/webhooks/webhookAdmin.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';

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
const unexpected = async () => {
  throw new Error('not used here');
};

const ID = '0190b0a0-0000-7000-8000-000000000001';

/** The log of one project, which may hold one delivery. */
function scene(
  change: Partial<LoggedDelivery> = {},
  found: 'queued' | 'without_body' | 'nothing' = 'queued',
) {
  const asked: unknown[] = [];
  let queued = 0;
  const admin = createWebhookAdmin({
    deliveries: {
      list: async () => ({ items: [{ ...delivery, ...change }], total: 7, nextCursor: 'next' }),
      async find(projectId, id) {
        asked.push([projectId, id]);
        return found === 'nothing' ? undefined : { ...delivery, ...change };
      },
    },
    queue: unused<EventQueueStore>('queue', {
      async repeat(...repeat) {
        asked.push(repeat);
        return found === 'nothing' ? undefined : found;
      },
    }),
    clock: createSimulatedClock(0),
    onQueued: () => void queued++,
    secrets: unused<SigningSecrets>('secrets', { current: unexpected, rotate: unexpected }),
  });
  return { admin, asked, queued: () => queued };
}

test.each([
  ['an answer of 2xx', {}, true],
  ['another answer', { status: 500, error }, false],
  ['no answer', { status: null, error: { code: 'timeout', message: 'm' } }, false],
])('WebhookAdmin summarizes a delivery with %s', async (_what, change, ok) => {
  const { admin } = scene(change);
  const { id: _id, body, ...shown } = { ...delivery, ...change };
  expect(await admin.deliveries('p', {}, PAGE)).toEqual({
    items: [{ ...shown, deliveryId: 'd', ok }],
    total: 7,
    nextCursor: 'next',
  });
  expect(await admin.delivery('p', ID)).toEqual({ ...shown, body, deliveryId: 'd', ok });
});

test('WebhookAdmin sends a delivery of the project again, now', async () => {
  const { admin, asked, queued } = scene();
  await admin.redeliver('p', ID);
  expect([asked, queued()]).toEqual([[['p', ID, new Date(0)]], 1]);
});

test.each([
  ['without its body is not', ID, 'without_body', 'delivery_body_not_kept'],
  ['that is not found is not', ID, 'nothing', 'webhook_delivery_not_found'],
  ['whose id is no UUID is not', 'delivery-1', 'queued', 'webhook_delivery_not_found'],
] as const)('A delivery %s sent again', async (_what, id, found, code) => {
  const { admin, asked, queued } = scene({}, found);
  await expect(admin.redeliver('p', id)).rejects.toMatchObject({ code });
  if (code === 'webhook_delivery_not_found')
    await expect(admin.delivery('p', id)).rejects.toMatchObject({ code });
  expect(queued()).toBe(0);
  expect(asked.length > 0).toBe(id === ID);
});
