import { describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { WebhookDelivery } from '../../../../src/webhooks/deliveryStore.ts';
import { useDatabase } from '../support/databases.ts';
import { BEGIN, later, sessionWorld } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };

describe('Webhook deliveries', () => {
  const opened = useDatabase();
  async function scene(historyRetentionDays = 30) {
    const world = await sessionWorld(opened.database, { historyRetentionDays });
    const session = await world.start({ sessionId: 's' });
    await world.end(session);
    const record = async (change: Partial<WebhookDelivery> = {}) => {
      const delivery: WebhookDelivery = {
        id: uuidV7(),
        attempt: 1,
        event: 'session.ended',
        url: 'https://example.com/',
        status: 204,
        durationMs: 1.5,
        error: null,
        at: BEGIN,
        body: '{}',
        answer: 'taken',
        ...change,
      };
      await world.outbox.advance(session.instanceId, (outbox) => ({
        outbox,
        nextAtMs: Date.parse(BEGIN),
        delivery,
        result: undefined,
      }));
      return delivery;
    };
    return { ...world, record, deliveries: world.stores.webhookDeliveries };
  }

  test('are read newest first, by session and event, and not by other projects', async () => {
    const { record, deliveries, projectId } = await scene();
    const error = { code: 'timeout', message: 'm' };
    const first = await record({ status: null, error, body: null });
    const second = await record({ event: 'session.finalized', at: later(5) });
    const shown = [second, first].map((delivery) => ({
      ...delivery,
      webhook: 'postSessionWebhook',
      sessionId: 's',
    }));
    expect(await deliveries.list(projectId, {}, PAGE)).toEqual({ items: shown, total: 2, nextCursor: null });
    expect(await deliveries.list(projectId, {}, { limit: 1, offset: 1 })).toEqual({
      items: [shown[1]],
      total: 2,
      nextCursor: null,
    });
    expect((await deliveries.list(projectId, { event: 'session.finalized' }, PAGE)).items).toEqual([
      shown[0],
    ]);
    expect((await deliveries.list(projectId, { sessionId: 's' }, PAGE)).total).toBe(2);
    expect((await deliveries.list(projectId, { sessionId: 'other' }, PAGE)).total).toBe(0);
    expect((await deliveries.list((await scene()).projectId, {}, PAGE)).total).toBe(0);
  });

  test('are found with the body of their newest attempt, and not by other projects', async () => {
    const { record, deliveries, projectId } = await scene();
    const first = await record({ status: 500, body: '{"words":1}' });
    await record({ ...first, attempt: 2, status: 204, at: later(5), answer: 'at last' });
    expect(await deliveries.find(projectId, first.id)).toMatchObject({
      attempt: 2,
      status: 204,
      body: '{"words":1}',
      answer: 'at last',
    });
    expect(await deliveries.find((await scene()).projectId, first.id)).toBeUndefined();
  });

  test('have no words in a project that keeps no history', async () => {
    const { record, deliveries, projectId } = await scene(0);
    const { id } = await record();
    expect(await deliveries.find(projectId, id)).toMatchObject({ status: 204, body: null, answer: null });
  });

  test('keep a long body whole', async () => {
    const { record, deliveries, projectId } = await scene();
    await record({ body: 'x'.repeat(70_000) });
    expect((await deliveries.list(projectId, {}, PAGE)).items[0]?.body).toBe('x'.repeat(70_000));
  });
});
