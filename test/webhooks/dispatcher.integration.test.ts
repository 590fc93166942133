import { describe, expect, test, vi } from 'vitest';
import type { GuardedHttpClient } from '../../src/http/client.ts';
import { agent, ENDING, later, user } from '../infra/postgres/support/sessions.ts';
import { unused } from '../support/unused.ts';
import { ALL, CHAT, ENDED_AT_MS, PATIENCE, useDispatchers } from './support/dispatchers.ts';
import { CALL } from './support/memoryOutbox.ts';

const PHONE = { channel: 'phone' as const, callId: 'c' };

describe('WebhookDispatcher', () => {
  const {
    scene,
    node,
    endSession,
    isFinished,
    untilFinished,
    untilFinishedOverTime,
    pause,
    database,
    client,
    closers,
  } = useDispatchers();

  test('sends the two events of a chat, signed, and logs both', async () => {
    const here = await scene();
    const session = await endSession(here);
    node(here);
    await untilFinished(session, here);

    expect(here.names()).toEqual(CHAT);
    const [ended, finalized] = here.received;
    expect(ended?.body).toEqual({
      event: 'session.ended',
      sessionId: session.sessionId,
      projectId: session.projectId,
      release: 'draft',
      channel: 'chat',
      occurredAt: ENDING.at,
      deliveryId: ended?.headers['webhook-id'],
    });
    expect(finalized?.body).toMatchObject({
      status: 'ended',
      endReason: 'api_end',
      durationMs: 60_000,
      variables: { guests: 2 },
      messages: [user('hi'), agent('hello', 12)],
    });
    expect(ended?.headers).toMatchObject({
      'x-token': 'shh',
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
    const { items } = await here.world.stores.webhookDeliveries.list(session.projectId, {}, PAGE);
    expect(items.map(({ event, status, error, attempt }) => ({ event, status, error, attempt }))).toEqual(
      expect.arrayContaining(CHAT.map((event) => ({ event, status: 204, error: null, attempt: 1 }))),
    );
    expect(items.every(({ body, sessionId }) => body && sessionId === session.sessionId)).toBe(true);
    expect(JSON.stringify(items)).not.toContain('shh');
    const history = await here.world.stores.history.find(session.projectId, session.sessionId);
    expect(
      history?.events.filter(({ type }) => type === 'webhook_sent').map(({ data }) => data.event),
    ).toEqual(CHAT);
  });

  test('sends the four events of a call in order, for any order of their facts', async () => {
    const here = await scene();
    const session = await here.world.start(PHONE);
    await here.world.outbox.recordFact(session.instanceId, 'recording.ready', new Date(ENDED_AT_MS - 5));
    await here.world.end(session, { expected: ALL, subscribed: ALL });
    const dispatcher = node(here);
    await vi.waitFor(() => expect(here.names()).toEqual(['session.ended']), PATIENCE);
    await here.world.outbox.recordFact(session.instanceId, 'call.ended', new Date(ENDED_AT_MS + 7));
    here.clock.advance(10);
    dispatcher.wake();
    await untilFinished(session, here);
    expect(here.names()).toEqual(ALL);
    expect(here.received.map(({ body }) => body.occurredAt)).toEqual([
      ENDING.at,
      later(60_007),
      later(59_995),
      later(60_010),
    ]);
    expect(here.received[3]?.body).toMatchObject({ ...CALL, status: 'completed' });
  });

  test('limits a project with a slow receiver, so that others are served', async () => {
    const slow = await scene();
    const quick = await scene();
    const waiting: (() => void)[] = [];
    const isSlow = (url: string) => url === slow.url;
    const request: GuardedHttpClient['request'] = async (what) => {
      if (isSlow(what.url)) await new Promise<void>((resolve) => waiting.push(resolve));
      return await client().request(what);
    };
    const many = await Promise.all(Array.from({ length: 15 }, () => endSession(slow)));
    const one = await endSession(quick, { at: later(60_001) });
    slow.clock.advance(10);
    const dispatcher = node(slow, { client: unused<GuardedHttpClient>('client', { request }) });
    await untilFinished(one, slow);
    expect(quick.names()).toEqual(CHAT);
    // The last of the ten may still be on its way, and an eleventh would follow it.
    await vi.waitFor(() => expect(waiting).toHaveLength(10), PATIENCE);
    await pause();
    expect(waiting).toHaveLength(10);
    expect(slow.names()).toEqual([]);

    // Each finished session lets a waiting one start, without `wake`.
    const answering = setInterval(() => {
      for (const answer of waiting.splice(0)) answer();
    }, 5);
    closers.push(async () => clearInterval(answering));
    for (const session of many) await untilFinished(session, slow);
    expect(slow.names()).toHaveLength(2 * many.length);
    await dispatcher.close();
  });

  test('sends the transcript of a project without retention, and keeps nothing of it', async () => {
    const here = await scene({ days: 0 });
    const session = await endSession(here);
    node(here);
    await untilFinished(session, here);
    expect(here.received[1]?.body.messages).toHaveLength(2);
    const left = await database().query(
      'SELECT 1 FROM session_history UNION ALL SELECT 1 FROM session_messages',
      [],
    );
    expect(left).toEqual([]);
    const { items } = await here.world.stores.webhookDeliveries.list(session.projectId, {}, PAGE);
    expect(items.map(({ body }) => body)).toEqual([null, null]);
  });

  test('sends each event once from several nodes', async () => {
    const here = await scene();
    const sessions = await Promise.all(Array.from({ length: 12 }, () => endSession(here)));
    const nodes = [node(here), node(here), node(here)];
    for (const each of nodes) each.wake();
    // Nodes that claim at the same moment skip each other's rows; the next claim finds what none of them got.
    await vi.waitFor(async () => {
      here.clock.advance(10);
      expect(await Promise.all(sessions.map(isFinished))).not.toContain(false);
    }, PATIENCE);
    for (const { sessionId } of sessions) {
      const events = here.received
        .filter(({ body }) => body.sessionId === sessionId)
        .map(({ event }) => event);
      expect(events).toEqual(CHAT);
    }
  });

  describe('close', () => {
    test('releases the rest to other nodes, also where a task ends after the release', async () => {
      const here = await scene();
      const session = await endSession(here, { subscribed: CHAT });
      const { outbox } = here.deps;
      let onReleased = () => {};
      const released = new Promise<void>((resolve) => {
        onReleased = resolve;
      });
      let stopped: Promise<void> | undefined;
      const first = node(here, {
        outbox: {
          ...outbox,
          async release(...of) {
            await outbox.release(...of);
            onReleased();
          },
          async saveResults(...of) {
            await released;
            await outbox.saveResults(...of);
          },
        },
        onSettled: () => {
          stopped = first.close();
        },
      });
      await vi.waitFor(() => expect(stopped).toBeDefined(), PATIENCE);
      await stopped;
      expect(here.names()).toEqual(['session.ended']);
      const stoppedAtMs = here.clock.now();
      node(here);
      await untilFinishedOverTime(session, here);
      expect(here.names()).toEqual(CHAT);
      // The lease of its claim ends after 30 s.
      expect(here.clock.now() - stoppedAtMs).toBeLessThan(10_000);
    });
  });
});

const PAGE = { limit: 50, offset: 0 };
