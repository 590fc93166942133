import { Webhook } from 'standardwebhooks';
import { describe, expect, test, vi } from 'vitest';
import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import type { GuardedHttpClient, GuardedRequest } from '../../src/http/client.ts';
import { eventQueueStore } from '../../src/infra/postgres/webhooks/eventQueues.ts';
import { createEventDispatcher } from '../../src/webhooks/eventDispatcher.ts';
import { EventForwarder } from '../../src/webhooks/eventForwarder.ts';
import { type RefusedEvents, SETTLING_MS } from '../../src/webhooks/eventQueue.ts';
import type { SigningSecrets } from '../../src/webhooks/signingSecrets.ts';
import { makeSigningSecret } from '../../src/webhooks/signingSecrets.ts';
import { useDatabase } from '../infra/postgres/support/databases.ts';
import { sessionWorld } from '../infra/postgres/support/sessions.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';

const START_MS = Date.UTC(2026, 0, 1);
const SECRET = makeSigningSecret();

describe('EventDispatcher', () => {
  const opened = useDatabase();

  /** A project whose agent wants some events, and nodes that send them to its receiver. */
  async function scene(maxQueued?: number) {
    const world = await sessionWorld(opened.database);
    const { projectId, stores } = world;
    const queue = eventQueueStore(opened.database, maxQueued);
    const url = `https://${projectId}.example/hook`;
    const eventWebhook = { url, events: ['turn.user' as const, 'trunk.changed' as const] };
    await stores.agents.insert(projectId, {
      config: { ...newAgentConfig('a'), eventWebhook },
      live: null,
    });
    const clock = createSimulatedClock(START_MS);
    const received: { id: string; text: string; atMs: number }[] = [];
    const refused: RefusedEvents[] = [];
    const receiver = { status: 204, verified: 0, wait: undefined as Promise<void> | undefined };
    const client = {
      async request({ body = '', headers = [], url: target }: GuardedRequest) {
        if (target !== url) return { status: 204 } as never;
        const found = Object.fromEntries(headers.map(({ key, value }) => [key, value]));
        const wh = new Webhook(SECRET);
        expect(found['webhook-signature']).toBe(
          wh.sign(
            found['webhook-id'] ?? '',
            new Date(Number(found['webhook-timestamp']) * 1000),
            String(body),
          ),
        );
        received.push({
          id: found['webhook-id'] ?? '',
          text: JSON.parse(String(body)).data.text,
          atMs: clock.now() - START_MS,
        });
        await receiver.wait;
        return { status: receiver.status, body: Buffer.from(`status ${receiver.status}`) } as never;
      },
    };
    const node = () => {
      const dispatcher = createEventDispatcher({
        queue,
        targetOf: async (id) => {
          const webhook = (await stores.agents.find(id))?.config.eventWebhook;
          return webhook ? { url: webhook.url, headers: [] } : undefined;
        },
        secrets: unused<SigningSecrets>('secrets', { signing: async () => [SECRET] }),
        client: unused<GuardedHttpClient>('client', client),
        clock,
        finishMs: 0,
        onAttempt: () => undefined,
        onError: (error) => {
          throw error;
        },
      });
      return dispatcher;
    };
    let count = 0;
    const publish = async (texts: readonly string[], sessionId: string | null = 's', type = 'turn.user') => {
      const forwarder = new EventForwarder({
        queue,
        clock,
        makeId: uuidV7,
        onRefused: (one) => refused.push(one),
        onError: (error) => {
          throw error;
        },
      });
      for (const text of texts) {
        count += 1;
        const body = JSON.stringify({ type, data: { text } });
        const event = { type, projectId, sessionId, data: {} } as never;
        forwarder.add({ id: `${START_MS}-${count}`, at: '', text: body, event });
      }
      await forwarder.close();
      clock.advance(SETTLING_MS);
    };
    const deliveries = async () =>
      (await stores.webhookDeliveries.list(projectId, {}, { limit: 50, offset: 0 })).items;
    const texts = () => received.map(({ text }) => text);
    const idle = () => vi.waitFor(async () => expect(await pending()).toBe(0));
    const pending = async () =>
      (await opened.database.query('SELECT FROM queued_events WHERE project_id = $1', [projectId])).length;
    return { ...world, queue, clock, received, receiver, refused, node, publish, deliveries, texts, idle };
  }

  test('sends what the agent wants, in the order of each session, and logs it', async () => {
    const { publish, node, texts, deliveries, projectId } = await scene();
    await publish(['one', 'two', 'three']);
    await publish(['unwanted'], 's', 'turn.agent');
    await publish(['of the project'], null, 'trunk.changed');
    const dispatcher = node();
    dispatcher.wake();
    // Emptied by the look for another event after the last delivery, which a closing dispatcher leaves to others.
    await expect
      .poll(() => opened.database.query('SELECT FROM event_queues WHERE project_id = $1', [projectId]))
      .toEqual([]);
    await dispatcher.close();
    expect(texts().filter((text) => text !== 'of the project')).toEqual(['one', 'two', 'three']);
    expect(texts()).toContain('of the project');
    const logged = await deliveries();
    expect(logged).toHaveLength(4);
    expect(logged.filter(({ sessionId }) => sessionId === 's')).toMatchObject(
      Array(3).fill({ webhook: 'eventWebhook', event: 'turn.user', attempt: 1, status: 204, error: null }),
    );
  });

  test('repeats an event under its id before the next one of its session, and others go on', async () => {
    const { publish, node, received, receiver, idle, deliveries, clock, texts } = await scene();
    receiver.status = 500;
    await publish(['one', 'two']);
    const dispatcher = node();
    dispatcher.wake();
    await vi.waitFor(async () => expect(await deliveries()).toHaveLength(1));
    clock.advance(3_500);
    await publish(['of another'], 'other');
    dispatcher.wake();
    await vi.waitFor(async () => expect(await deliveries()).toHaveLength(2));
    expect(texts()).toEqual(['one', 'of another']);
    receiver.status = 204;
    clock.advance(1_001);
    dispatcher.wake();
    await vi.waitFor(() => expect(texts()).toEqual(['one', 'of another', 'one', 'two']));
    clock.advance(5_000);
    dispatcher.wake();
    await idle();
    await dispatcher.close();
    const ones = received.filter(({ text }) => text === 'one');
    expect(new Set(ones.map(({ id }) => id)).size).toBe(1);
    const attempts = (await deliveries()).filter(({ id }) => id === ones[0]?.id);
    expect(attempts.map(({ attempt, status, answer }) => [attempt, status, answer])).toEqual([
      [2, 204, 'status 204'],
      [1, 500, 'status 500'],
    ]);
  });

  test('continues on another node after a crash, with the event that was being sent', async () => {
    const { publish, node, receiver, clock, texts, idle } = await scene();
    await publish(['one', 'two']);
    let fail: (error: Error) => void = () => undefined;
    receiver.wait = new Promise((_resolve, reject) => {
      fail = reject;
    });
    receiver.wait.catch(() => undefined);
    const [dead, alive] = [node(), node()];
    dead.wake();
    await vi.waitFor(() => expect(texts()).toEqual(['one']));
    receiver.wait = undefined;
    alive.wake();
    clock.advance(31_000);
    alive.wake();
    await idle();
    fail(new Error('the node is gone'));
    await Promise.all([dead.close(), alive.close()]);
    expect(texts()).toEqual(['one', 'one', 'two']);
  });

  test('sends any delivery again under its id, with its whole body, and only within its project', async () => {
    const { publish, node, queue, clock, received, texts, idle, projectId, deliveries } = await scene();
    const long = 'x'.repeat(70_000);
    await publish([long]);
    const dispatcher = node();
    dispatcher.wake();
    await idle();
    const now = new Date(clock.now());
    const [first] = received;
    const id = first?.id ?? '';
    const { projectId: other } = await sessionWorld(opened.database);
    expect(await queue.repeat(other, id, now)).toBeUndefined();
    expect(await queue.repeat(projectId, uuidV7(), now)).toBeUndefined();
    expect(await queue.repeat(projectId, id, now)).toBe('queued');
    expect(await queue.repeat(projectId, id, now)).toBe('queued');
    dispatcher.wake();
    await vi.waitFor(() => expect(texts()).toEqual([long, long]));
    await idle();
    await dispatcher.close();
    expect(received[1]?.id).toBe(id);
    expect((await deliveries()).map(({ attempt }) => attempt)).toEqual([2, 1]);
    await opened.database.query('UPDATE webhook_deliveries SET body = NULL');
    expect(await queue.repeat(projectId, id, now)).toBe('without_body');
  });

  test('keeps the order of a session whose events are stored side by side', async () => {
    const { queue, projectId, clock, node, texts, idle } = await scene();
    const append = (text: string, number: number) =>
      queue.append(
        [
          {
            deliveryId: uuidV7(),
            projectId,
            sessionId: 's',
            type: 'turn.user',
            alertId: null,
            place: { atMs: 1, number },
            body: JSON.stringify({ data: { text } }),
          },
        ],
        new Date(clock.now()),
      );
    const dispatcher = node();
    await append('later', 2);
    clock.advance(SETTLING_MS - 1);
    dispatcher.wake();
    await append('earlier', 1);
    clock.advance(SETTLING_MS);
    dispatcher.wake();
    await idle();
    await dispatcher.close();
    expect(texts()).toEqual(['earlier', 'later']);
  });

  test('refuses further events of a project with too many, and tells', async () => {
    const { publish, refused, projectId } = await scene(3);
    await publish(['one', 'two', 'three']);
    expect(refused).toEqual([]);
    await publish(['four', 'five']);
    expect(refused).toEqual([{ projectId, count: 2 }]);
  });
});
