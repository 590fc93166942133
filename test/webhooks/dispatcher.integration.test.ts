import { describe, expect, test, vi } from 'vitest';
import type { GuardedHttpClient } from '../../src/http/client.ts';
import { WebhookDispatcher } from '../../src/webhooks/dispatcher.ts';
import { databases } from '../infra/postgres/support/databases.ts';
import { agent, ENDING, later, user } from '../infra/postgres/support/sessions.ts';
import { unused } from '../support/unused.ts';
import { ALL, CHAT, ENDED_AT_MS, PATIENCE, useDispatchers } from './support/dispatchers.ts';
import { CALL } from './support/memoryOutbox.ts';

const PHONE = { channel: 'phone' as const, callId: 'c' };

describe.each(databases)('WebhookDispatcher on the $name database', ({ open }) => {
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
  } = useDispatchers(open);

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

  test('logs a receiver’s error without repeating the event, and continues', async () => {
    const here = await scene({ answer: 500 });
    const session = await endSession(here);
    node(here);
    await untilFinished(session, here);
    expect(here.names()).toEqual(CHAT);
    const { items } = await here.world.stores.webhookDeliveries.list(
      session.projectId,
      { event: 'session.ended' },
      PAGE,
    );
    expect(items).toMatchObject([{ status: 500, error: { code: 'unexpected_status' } }]);
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

  test('does not wait for a fact beyond the timeout, and sends nothing after session.finalized', async () => {
    const here = await scene();
    const session = await here.world.start(PHONE);
    await here.world.end(session, { expected: ALL, subscribed: ALL });
    const dispatcher = node(here);
    await vi.waitFor(() => expect(here.names()).toEqual(['session.ended']), PATIENCE);
    here.clock.advance(Date.parse(ENDING.finalizeBy) - ENDED_AT_MS - 1);
    await pause();
    expect(here.names()).toEqual(['session.ended']);
    await untilFinishedOverTime(session, here);
    await here.world.outbox.recordFact(session.instanceId, 'call.ended', new Date(here.clock.now()));
    dispatcher.wake();
    await pause();
    expect(here.names()).toEqual(CHAT);
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

  test.each([
    ['only subscribed events', ['session.finalized'], ['session.finalized']],
    ['the default', ['session.ended'], ['session.ended']],
    ['nothing', [], []],
  ] as const)('sends %s, and completes the outbox', async (_what, subscribed, expected) => {
    const here = await scene();
    const session = await endSession(here, { subscribed });
    node(here);
    await untilFinished(session, here);
    expect(here.names()).toEqual(expected);
  });

  test('fails only the call’s event when the call report is missing', async () => {
    const here = await scene();
    const session = await here.world.start(PHONE);
    await here.world.outbox.recordFact(session.instanceId, 'call.ended', new Date(ENDED_AT_MS));
    await here.world.end(session, {
      expected: ['session.ended', 'call.ended', 'session.finalized'],
      subscribed: ALL,
    });
    node(here, { callReport: async () => undefined });
    await untilFinished(session, here);
    expect(here.names()).toEqual(CHAT);
    const { items } = await here.world.stores.webhookDeliveries.list(
      session.projectId,
      { event: 'call.ended' },
      PAGE,
    );
    expect(items).toMatchObject([{ status: null, error: { code: 'webhook_body_invalid' }, body: null }]);
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

  describe('post-session tasks', () => {
    const criteria = [{ name: 'polite', description: 'x' }];
    const evaluation = { criteria: [{ name: 'polite', passed: true, reason: 'was' }] };

    test('delay session.finalized until the evaluation is done, but not session.ended', async () => {
      const here = await scene({ postEvaluationConfig: { criteria }, memoryEnabled: true });
      const session = await endSession(here, { evaluating: true });
      let judge: (evaluation: unknown) => void = () => undefined;
      const remembered: unknown[] = [];
      node(here, {
        evaluate: ({ messages, variables }) => {
          expect({ messages: messages.length, variables }).toEqual({ messages: 2, variables: { guests: 2 } });
          return new Promise((resolve) => {
            judge = resolve;
          });
        },
        remember: async ({ projectId }) => {
          remembered.push(projectId);
        },
      });
      await vi.waitFor(() => expect(here.names()).toEqual(['session.ended']), PATIENCE);
      await pause();
      expect(here.names()).toEqual(['session.ended']);
      judge(evaluation);
      await untilFinished(session, here);
      expect(here.received[1]?.body.evaluation).toEqual(evaluation);
      expect(remembered).toEqual([session.projectId]);
      expect(
        (await here.world.stores.history.find(session.projectId, session.sessionId))?.evaluation,
      ).toEqual(evaluation);
    });

    test('are skipped when the evaluation fails', async () => {
      const here = await scene({ postEvaluationConfig: { criteria } });
      const session = await endSession(here, { evaluating: true });
      node(here, { evaluate: () => Promise.reject(new Error('no model')) });
      await untilFinished(session, here);
      expect(here.names()).toEqual(CHAT);
      expect(here.received[1]?.body).not.toHaveProperty('evaluation');
      expect(here.errors).toHaveLength(1);
    });

    test('are restarted by another node when the first one fails', async () => {
      const here = await scene({ postEvaluationConfig: { criteria } });
      const session = await endSession(here, { evaluating: true, finalizeBy: later(600_000) });
      const first = node(here, { evaluate: () => new Promise(() => undefined) });
      await vi.waitFor(() => expect(here.names()).toEqual(['session.ended']), PATIENCE);
      await first.close();
      node(here, { evaluate: async () => evaluation });
      await untilFinishedOverTime(session, here);
      expect(here.received[1]?.body.evaluation).toEqual(evaluation);
      expect(here.clock.now()).toBeLessThan(Date.parse(later(600_000)));
    });
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
    test('sends due events first', async () => {
      const here = await scene();
      const session = await endSession(here, { subscribed: CHAT });
      await new WebhookDispatcher({ ...here.deps, finishMs: 5_000 }).close();
      expect(here.names()).toEqual(CHAT);
      expect(await isFinished(session)).toBe(true);
    });

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
          async saveEvaluation(...of) {
            await released;
            await outbox.saveEvaluation(...of);
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
