import { describe, expect, test } from 'vitest';
import { CallwayError } from '../../src/base/errors.ts';
import type { GuardedHttpClient } from '../../src/http/client.ts';
import { createEventDispatcher } from '../../src/webhooks/eventDispatcher.ts';
import { EventForwarder } from '../../src/webhooks/eventForwarder.ts';
import type { EventQueueStore } from '../../src/webhooks/eventQueue.ts';
import {
  type NewQueuedEvent,
  type QueuedEvent,
  type RefusedEvents,
  retryAtMs,
} from '../../src/webhooks/eventQueue.ts';
import type { SigningSecrets } from '../../src/webhooks/signingSecrets.ts';
import { createSigningSecrets, makeSigningSecret } from '../../src/webhooks/signingSecrets.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';

const START_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test('A failed event is repeated with growing pauses, the last time after an hour', () => {
  const pauses: number[] = [];
  let nowMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    const next = retryAtMs(attempt, 0, nowMs);
    if (next === undefined) break;
    pauses.push((next - nowMs) / 1000);
    nowMs = next;
  }
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600, 600, 600, 565]);
});

describe('EventForwarder', () => {
  function scene() {
    const clock = createSimulatedClock(START_MS);
    const batches: (readonly NewQueuedEvent[])[] = [];
    const refused: RefusedEvents[] = [];
    const errors: string[] = [];
    const database = { error: undefined as Error | undefined, refuses: false };
    let ids = 0;
    const forwarder = new EventForwarder({
      queue: unused<EventQueueStore>('queue', {
        async append(events) {
          if (database.error) throw database.error;
          batches.push(events);
          return database.refuses ? [{ projectId: 'p', count: events.length }] : [];
        },
      }),
      clock,
      makeId: () => `delivery-${++ids}`,
      onRefused: (one) => refused.push(one),
      onError: (error) => errors.push(error instanceof Error ? error.message : ''),
    });
    const add = (count: number) => {
      for (let n = 1; n <= count; n += 1)
        forwarder.add({
          id: `${START_MS}-${n}`,
          at: '',
          text: '{"type":"turn.user"}',
          event: { type: 'turn.user', projectId: 'p', sessionId: 's', data: {} } as never,
        });
    };
    return { add, batches, clock, database, errors, forwarder, refused };
  }

  test('queues what was published together with one statement, in its place', async () => {
    const { add, batches, forwarder } = scene();
    add(2);
    await forwarder.close();
    expect(batches).toEqual([
      [1, 2].map((number) => ({
        deliveryId: `delivery-${number}`,
        projectId: 'p',
        sessionId: 's',
        type: 'turn.user',
        alertId: null,
        place: { atMs: START_MS, number },
        body: `{"id":"${START_MS}-${number}","type":"turn.user"}`,
      })),
    ]);
  });

  test('pauses between statements of 200 events', async () => {
    const { add, batches, clock, forwarder } = scene();
    add(450);
    await settle();
    clock.advance(99);
    await settle();
    expect(batches.map(({ length }) => length)).toEqual([200]);
    clock.advance(1);
    await settle();
    clock.advance(100);
    await settle();
    clock.advance(100);
    await settle();
    add(1);
    await settle();
    expect(batches.map(({ length }) => length)).toEqual([200, 200, 50, 1]);
    const closed = forwarder.close();
    clock.advance(100);
    await closed;
  });

  test('keeps events while the database is away, and 10,000 at most', async () => {
    const { add, batches, clock, database, errors, forwarder } = scene();
    database.error = new CallwayError('unavailable', 'database_unavailable', 'away');
    add(1);
    await settle();
    add(10_001);
    clock.advance(999);
    await settle();
    expect(errors).toEqual(['away', 'too many events wait']);
    database.error = undefined;
    clock.advance(1);
    await settle();
    expect(batches[0]).toHaveLength(200);
    // It is told again once there was room.
    add(201);
    expect(errors).toEqual(['away', 'too many events wait', 'too many events wait']);
    const closed = forwarder.close();
    clock.advance(100);
    await closed;
    expect(batches.flat()).toHaveLength(10_000 + 200);
  });

  test('drops events that the database refuses, and those that it does not take at a stop', async () => {
    const { add, batches, clock, database, errors, forwarder } = scene();
    database.error = new Error('not valid');
    add(1);
    await settle();
    clock.advance(1000);
    await settle();
    database.error = new CallwayError('unavailable', 'database_unavailable', 'away');
    add(1);
    await settle();
    await Promise.all([forwarder.close(), settle().then(() => clock.advance(1000))]);
    expect([batches, errors]).toEqual([[], ['not valid', 'away', 'away']]);
  });

  test('tells once a minute that events of a project are refused', async () => {
    const { add, clock, database, refused } = scene();
    database.refuses = true;
    for (const pauseMs of [0, 59_899, 101, 60_000]) {
      clock.advance(pauseMs);
      add(1);
      await settle();
      clock.advance(100);
      await settle();
    }
    expect(refused).toHaveLength(3);
  });
});

describe('EventDispatcher', () => {
  const event = (fields: Partial<QueuedEvent> = {}): QueuedEvent => ({
    deliveryId: 'd',
    sessionId: 's',
    type: 'turn.user',
    alertId: null,
    body: '{}',
    webhook: 'eventWebhook',
    attempt: 0,
    queuedAtMs: START_MS,
    ...fields,
  });

  /** A queue with these events, and the receiver’s answer. */
  function scene(events: QueuedEvent[], { status = 204, hasTarget = true, isSettled = true } = {}) {
    const clock = createSimulatedClock(START_MS);
    const log: string[] = [];
    let lookups = 0;
    let isClaimed = false;
    const urls: string[] = [];
    const dispatcher = createEventDispatcher({
      queue: {
        append: async () => [],
        claimDue: async () => ({ claimed: isClaimed ? [] : [{ id: 'q', projectId: 'p' }], nextDueAt: null }),
        async next(queueId, now, until) {
          isClaimed = true;
          log.push(`next ${queueId} for ${until.getTime() - now.getTime()}`);
          return events.shift();
        },
        async settle(_queueId, { id, attempt, status: code, error, url }, retryAt) {
          urls.push(url);
          const again = retryAt ? ` again after ${retryAt.getTime() - START_MS}` : '';
          log.push(`settle ${id} ${attempt} ${code} ${error?.code ?? 'ok'}${again}`);
          return isSettled;
        },
        release: async () => void log.push('release'),
        repeat: async () => undefined,
      },
      async targetOf() {
        lookups += 1;
        return hasTarget ? { url: 'https://hook.example/', headers: [] } : undefined;
      },
      secrets: unused<SigningSecrets>('secrets', { signing: async () => [makeSigningSecret()] }),
      client: unused<GuardedHttpClient>('client', {
        request: async () => ({ status, body: new Uint8Array() }) as never,
      }),
      clock,
      finishMs: 0,
      onAttempt: (_projectId, { id }, isGivenUp) => void log.push(`${id} ${isGivenUp ? 'given up' : 'told'}`),
      onError: (error) => {
        throw error;
      },
    });
    /** Queues one more. */
    async function more(next: QueuedEvent) {
      events.push(next);
      isClaimed = false;
      dispatcher.wake();
      await settle();
    }
    return { clock, dispatcher, log, lookups: () => lookups, more, urls };
  }
  const NEXT = 'next q for 30000';

  test.each([
    [
      'sends the events of a queue one after the other',
      [event(), event({ deliveryId: 'e', attempt: 2 })],
      {},
      [NEXT, 'settle d 1 204 ok', 'd told', NEXT, 'settle e 3 204 ok', 'e told', NEXT],
    ],
    [
      'repeats a failed event later, before those behind it',
      [event(), event({ deliveryId: 'e' })],
      { status: 500 },
      [NEXT, 'settle d 1 500 unexpected_status again after 5000', 'd told'],
    ],
    [
      'gives an event up that has waited an hour',
      [event({ queuedAtMs: START_MS - HOUR_MS })],
      { status: 500 },
      [NEXT, 'settle d 1 500 unexpected_status', 'd given up', NEXT],
    ],
    [
      'does not repeat the event of a session’s end by itself',
      [event({ webhook: 'postSessionWebhook' })],
      { status: 500 },
      [NEXT, 'settle d 1 500 unexpected_status', 'd given up', NEXT],
    ],
    [
      'logs an event whose webhook was removed',
      [event({ queuedAtMs: START_MS - HOUR_MS })],
      { hasTarget: false },
      [NEXT, 'settle d 1 null webhook_target_missing', 'd given up', NEXT],
    ],
    [
      'stops where another node made the attempt',
      [event()],
      { isSettled: false },
      [NEXT, 'settle d 1 204 ok'],
    ],
  ])('%s', async (_what, events, options, expected) => {
    const { dispatcher, log, urls } = scene(events, options);
    dispatcher.wake();
    await settle();
    expect(log).toEqual(expected);
    expect(urls[0]).toBe('hasTarget' in options ? '' : 'https://hook.example/');
    await dispatcher.close();
  });

  test('a changed address counts after two seconds', async () => {
    const events = [event(), event()];
    const { clock, dispatcher, lookups, more } = scene(events);
    dispatcher.start();
    await settle();
    expect(lookups()).toBe(1);
    clock.advance(1_999);
    await more(event());
    expect(lookups()).toBe(1);
    clock.advance(1);
    await more(event());
    expect(lookups()).toBe(2);
    await dispatcher.close();
    await more(event());
    expect([lookups(), events.length, clock.pendingTimers()]).toEqual([2, 1, 0]);
  });
});

test('A secret signs for 24 hours after its rotation, beside the new one', async () => {
  const clock = createSimulatedClock(START_MS);
  const stored: { secret: string; previous: string | null; rotatedAt: string }[] = [];
  let made = 0;
  const secrets = createSigningSecrets({
    clock,
    makeSecret: () => `whsec_${++made}`,
    store: {
      find: async () => stored.at(-1),
      async insert(_projectId, secret, rotatedAt) {
        stored.push({ secret, previous: null, rotatedAt });
        return { secret, previous: null, rotatedAt };
      },
      async rotate(_projectId, secret, rotatedAt) {
        const next = { secret, previous: stored.at(-1)?.secret ?? null, rotatedAt };
        stored.push(next);
        return next;
      },
    },
  });
  expect(await secrets.current('p')).toEqual({ secret: 'whsec_1', previousValidUntil: null });
  expect(await secrets.signing('p')).toEqual(['whsec_1']);
  const previousValidUntil = new Date(START_MS + 24 * HOUR_MS).toISOString();
  expect(await secrets.rotate('p')).toEqual({ secret: 'whsec_2', previousValidUntil });
  clock.advance(24 * HOUR_MS - 1);
  expect(await secrets.signing('p')).toEqual(['whsec_2', 'whsec_1']);
  clock.advance(1);
  expect(await secrets.signing('p')).toEqual(['whsec_2']);
  expect(makeSigningSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
});
