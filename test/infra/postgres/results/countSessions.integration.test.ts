import { beforeEach, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { HistoryEvent, Session, SessionMessage } from '../../../../src/engine/session/session.ts';
import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import { countNext } from '../../../../src/infra/postgres/results/countSessions.ts';
import { removeExpired } from '../../../../src/infra/postgres/retention.ts';
import type { InsightQuery } from '../../../../src/results/insights/insightStore.ts';
import {
  type InsightRequest,
  readFunnel,
  readInsights,
} from '../../../../src/results/insights/readInsights.ts';
import { makeCall } from '../support/calls.ts';
import { databases, useDatabase } from '../support/databases.ts';
import { agent, BEGIN, later, type SessionWorld, sessionWorld, user } from '../support/sessions.ts';

const DAY = {
  from: '2026-01-01',
  to: '2026-01-02',
  interval: 'day',
  groupBy: undefined,
  filter: {},
} as const;
const YEAR_LATER = new Date('2027-01-01');

async function countAll(database: Database): Promise<void> {
  while ((await countNext(database)) > 0);
}

describe.each(databases)('Ended sessions on the $name database', ({ open }) => {
  const opened = useDatabase(open);
  beforeEach(() => opened.database.query('DELETE FROM projects'));
  const ask = (world: SessionWorld, request: Partial<InsightRequest> = {}) =>
    readInsights(world.insights, world.projectId, { metric: 'sessions', ...DAY, ...request });
  const total = async (world: SessionWorld, request: Partial<InsightRequest> = {}) =>
    (await ask(world, request)).total;

  test('are counted once, however often and by how many they are counted', async () => {
    const world = await sessionWorld(opened.database);
    for (let index = 0; index < 3; index += 1) await world.end(await world.start());
    await world.start();
    expect((await total(world)).n).toBe(0);
    await Promise.all([countNext(opened.database), countNext(opened.database), countNext(opened.database)]);
    await countAll(opened.database);
    expect(await total(world)).toEqual({ value: 3, n: 3 });
  });

  test('are counted again after a change, in place of what was counted', async () => {
    const world = await sessionWorld(opened.database);
    const session = await world.start();
    await world.end(session);
    await countAll(opened.database);
    expect(await total(world, { metric: 'evaluation' })).toEqual({ value: null, n: 0 });
    const criteria = [
      { name: 'polite', passed: true, reason: '' },
      { name: 'tone', type: 'score' as const, score: 2, reason: '' },
    ];
    const analysis = { status: 'done' as const, disposition: 'booked', success: true, model: 'm' };
    await world.outbox.saveResults(
      session.instanceId,
      { evaluation: { criteria }, analysis },
      new Date(later(70_000)),
    );
    await world.stores.history.addEvents(session.instanceId, [
      { type: 'error', at: later(61_000), data: { code: 'x' } },
    ]);
    await countAll(opened.database);
    expect(await total(world, { metric: 'evaluation' })).toEqual({ value: 1, n: 1 });
    expect(await total(world, { metric: 'success' })).toEqual({ value: 1, n: 1 });
    expect(await total(world, { metric: 'error' })).toEqual({ value: 1, n: 1 });
    await opened.database.query(
      `UPDATE session_history SET cost = '{"total":0.0123}' WHERE instance_id = $1`,
      [session.instanceId],
    );
    await countAll(opened.database);
    expect(await total(world, { metric: 'cost' })).toEqual({ value: 0.0123, n: 1 });
    expect((await ask(world, { metric: 'dispositions' })).series).toMatchObject([{ key: 'booked' }]);
    expect((await ask(world, { groupBy: 'release' })).series).toMatchObject([{ key: 'draft' }]);
    expect(await total(world)).toEqual({ value: 1, n: 1 });
  });

  test('have their costs added up by currency, grouped or not', async () => {
    const world = await sessionWorld(opened.database);
    for (const [provider, cost] of [
      ['site', { total: 0.0000004, currency: 'USD' }],
      ['site', { total: 2, currency: 'USD' }],
      ['site', { total: 60, currency: 'TWD' }],
      ['app', { total: 1e10, currency: 'USD' }],
      ['app', null],
    ] as const) {
      const { instanceId } = await world.start({ provider });
      await opened.database.query(
        `UPDATE session_history SET status = 'ended', ended_at = started_at, cost = $2::json WHERE instance_id = $1`,
        [instanceId, cost && JSON.stringify(cost)],
      );
    }
    await countAll(opened.database);
    const others = [{ value: 60, n: 1, currency: 'TWD' }];
    const sum = expect.closeTo(10_000_000_002, 4);
    const found = await ask(world, { metric: 'cost' });
    expect(found.total).toEqual({ value: sum, n: 3, currency: 'USD', others });
    expect(found.series).toMatchObject([
      { key: null, currency: 'USD', points: [{ value: sum, n: 3 }] },
      { key: null, currency: 'TWD', points: [{ value: 60, n: 1 }] },
    ]);
    const grouped = await ask(world, { metric: 'cost', groupBy: 'provider' });
    expect(grouped.total).toEqual(found.total);
    expect(grouped.series).toMatchObject([
      { key: 'site', currency: 'USD', points: [{ value: 2.0000004, n: 2 }] },
      { key: 'app', currency: 'USD', points: [{ value: 1e10, n: 1 }] },
      { key: 'site', currency: 'TWD', points: [{ value: 60, n: 1 }] },
    ]);
    // Unpriced sessions and those of another currency are one series.
    expect(await ask(world)).toMatchObject({ series: [{ points: [{ n: 5 }] }], total: { n: 5 } });
  });

  test('stay counted when their count fails half way', async () => {
    const world = await sessionWorld(opened.database);
    await world.end(await world.start());
    const failing: Database = {
      ...opened.database,
      transaction: (work) =>
        opened.database.transaction(async (transaction) => {
          await work(transaction);
          throw new Error('the node dies');
        }),
    };
    await expect(countNext(failing)).rejects.toThrow('the node dies');
    expect((await total(world)).n).toBe(0);
    await countAll(opened.database);
    expect(await total(world)).toEqual({ value: 1, n: 1 });
  });

  test('stay in the sums when retention deletes them, which waits for their count', async () => {
    const world = await sessionWorld(opened.database, { historyRetentionDays: 1 });
    await world.end(await world.say(await world.start(), [user('hi'), agent('hello', 250)]));
    const overdue = new Date(Date.parse(later(60_000)) + 86_400_000);
    expect(await removeExpired(opened.database, 'sessions', overdue)).toBe(0);
    await countAll(opened.database);
    expect(await removeExpired(opened.database, 'sessions', overdue)).toBe(1);
    await countAll(opened.database);
    expect(await total(world, { metric: 'turns' })).toEqual({ value: 1, n: 1 });
  });

  test('are deleted a day later though they could not be counted', async () => {
    const world = await sessionWorld(opened.database, { historyRetentionDays: 1 });
    await world.end(await world.start());
    expect(await removeExpired(opened.database, 'sessions', YEAR_LATER)).toBe(1);
  });

  test('are counted by the erasure of their customer, which changes no sum', async () => {
    const world = await sessionWorld(opened.database);
    const state = { ...(await world.start()).state, variables: { customerId: 'ada' } };
    const session = await world.start({ state });
    await world.end(session);
    const name = { projectId: world.projectId, key: 'ada' };
    await world.customers.requestErasure(name, {
      id: uuidV7(),
      projectId: world.projectId,
      at: BEGIN,
      actor: { kind: 'operator' },
      action: 'customer.erased',
      target: 'ada',
      details: {},
      requestId: null,
    });
    expect(await world.customers.eraseNext(name)).toMatchObject({ instanceIds: [session.instanceId] });
    expect(await total(world)).toEqual({ value: 1, n: 1 });
  });

  test('of a project that keeps no history are counted with their latencies, and leave no words', async () => {
    const world = await sessionWorld(opened.database, { historyRetentionDays: 0 });
    const session = await world.say(await world.start(), [user('secret'), agent('secret', 250)]);
    await world.end(session, { readsMessages: false, expected: [] });
    const messages = await opened.database.query<{ message: unknown; text: string | null }>(
      'SELECT message, text FROM session_messages WHERE project_id = $1',
      [world.projectId],
    );
    expect(JSON.stringify(messages)).not.toContain('secret');
    await countAll(opened.database);
    expect(await removeExpired(opened.database, 'sessions', YEAR_LATER)).toBe(1);
    const { n, p50 } = await total(world, { metric: 'latency' });
    expect(n).toBe(1);
    expect(Math.abs((p50 ?? 0) / 250 - 1)).toBeLessThan(0.05);
  });

  test('of tests are not counted', async () => {
    const world = await sessionWorld(opened.database);
    const test = { releaseId: world.releaseId, toolMocks: [], allowRealTools: false };
    const { state } = await world.start();
    await world.end(await world.start({ state: { ...state, test } }));
    await countAll(opened.database);
    expect((await total(world)).n).toBe(0);
  });

  test('are forgotten with their project', async () => {
    const world = await sessionWorld(opened.database);
    await world.end(await world.start());
    await countAll(opened.database);
    await opened.database.query('DELETE FROM projects WHERE id = $1', [world.projectId]);
    expect((await total(world)).n).toBe(0);
  });

  test('have figures by everything that is counted of a call', async () => {
    const world = await sessionWorld(opened.database);
    await endedCall(world, { answeredMs: 10_000, endedMs: 70_000, endReason: 'caller_hangup' }, [
      event('node_entered', 0, { nodeId: 'start', title: 'Greeting', why: 'begin' }),
      event('tool_called', 1, { name: 'a' }),
      event('tool_result', 2, { name: 'a', ok: false }),
      event('tool_result', 3, { name: 'b', ok: true }),
      event('tool_result', 4, { name: 'transfer_call', ok: false, outcome: 'busy' }),
      event('barge_in', 5, {}),
      event('barge_in', 6, {}),
      event('transfer', 7, { status: 'requested' }),
      event('transfer', 8, { status: 'joined' }),
    ]);
    await endedCall(world, { endedMs: 30_000, status: 'no_answer' }, []);
    await countAll(opened.database);
    const values = await Promise.all(
      (
        [
          'calls',
          'answered',
          'minutes',
          'duration',
          'toolFailures',
          'interruptions',
          'transfers',
          'error',
        ] as const
      ).map(async (metric) => [metric, await total(world, { metric })] as const),
    );
    expect(Object.fromEntries(values)).toEqual({
      calls: { value: 2, n: 2 },
      answered: { value: 0.5, n: 2 },
      minutes: { value: 1, n: 1 },
      duration: { value: 60_000, n: 1 },
      toolFailures: { value: 0.5, n: 2 },
      interruptions: { value: 1, n: 2 },
      transfers: { value: 0.5, n: 2 },
      error: { value: 0, n: 2 },
    });
    const { series } = await ask(world, { metric: 'endReasons' });
    expect(series.map(({ key, points }) => [key, points[0]?.n])).toEqual([
      ['caller_hangup', 1],
      ['no_answer', 1],
    ]);
    const figure = { filter: {}, from: BEGIN, to: later(3_600_000) } as const;
    expect(await world.insights.figure(world.projectId, { metric: 'interruptions', ...figure })).toEqual({
      value: 1,
      n: 2,
    });
    expect(
      await world.insights.figure(world.projectId, {
        metric: 'answered',
        ...figure,
        filter: { endReason: 'no_answer' },
      }),
    ).toEqual({ value: 0, n: 1 });
    expect(
      await world.insights.figure(world.projectId, {
        metric: 'calls',
        ...figure,
        to: later(40_000),
      }),
    ).toMatchObject({ n: 1 });
  });

  test('whose call ends after them are counted again then', async () => {
    const world = await sessionWorld(opened.database);
    const { call, session, started } = makeCall(world);
    await world.stores.calls.insert(call, session, started);
    await world.end(session);
    await countAll(opened.database);
    expect((await total(world, { metric: 'calls' })).n).toBe(0);
    await opened.database.query(
      `UPDATE calls SET status = 'completed', answered_at = $2, ended_at = $3 WHERE id = $1`,
      [call.id, later(1_000), later(61_000)],
    );
    await countAll(opened.database);
    expect(await total(world, { metric: 'minutes' })).toEqual({ value: 1, n: 1 });
  });

  test('have series by group, and the smallest groups in one', async () => {
    const world = await sessionWorld(opened.database);
    for (let index = 0; index < 23; index += 1)
      for (let times = index < 2 ? 3 : 1; times > 0; times -= 1)
        await world.end(await world.start({ provider: `p${index}`, channel: index === 1 ? 'web' : 'chat' }));
    await world.end(await world.start());
    await countAll(opened.database);
    const { series, total } = await ask(world, { groupBy: 'provider' });
    expect(total).toEqual({ value: 28, n: 28 });
    expect(series).toHaveLength(21);
    expect(series.slice(0, 2).map(({ key, points }) => [key, points[0]?.value])).toEqual([
      ['p0', 3],
      ['p1', 3],
    ]);
    expect(series.filter(({ key }) => key === null)).toMatchObject([{ points: [{ value: 1 }] }]);
    expect(series.at(-1)).toMatchObject({ key: 'other', isOther: true, points: [{ value: 4 }] });
    const filtered = await ask(world, { groupBy: 'provider', filter: { channel: 'web' } });
    expect(filtered.series.map(({ key }) => key)).toEqual(['p1']);
  });

  test('count in the hour, day and week in which they began', async () => {
    const world = await sessionWorld(opened.database);
    // A Thursday, and the Sunday and Monday after it.
    for (const startedAt of ['2026-01-01T23:59:59.999Z', '2026-01-04T00:00:00Z', '2026-01-05T05:30:00Z'])
      await world.end(await world.start({ startedAt }), { at: '2026-01-06T00:00:00Z' });
    await countAll(opened.database);
    const times = async (query: Partial<InsightQuery>) =>
      (await ask(world, { to: '2026-01-06', ...query })).series[0]?.points.map(({ at }) => at.slice(0, 13));
    expect(await times({ interval: 'hour' })).toEqual(['2026-01-01T23', '2026-01-04T00', '2026-01-05T05']);
    expect(await times({ interval: 'day' })).toEqual(['2026-01-01T00', '2026-01-04T00', '2026-01-05T00']);
    expect(await times({ interval: 'week' })).toEqual(['2025-12-29T00', '2026-01-05T00']);
    // The days between two hours come from the sums of days; both hours are whole.
    expect(await times({ from: '2026-01-01T23:30:00Z', to: '2026-01-05T05:00:01Z' })).toHaveLength(3);
    expect(await times({ from: '2026-01-02T00:00:00Z', to: '2026-01-05T05:00:00Z' })).toHaveLength(1);
  });

  test('leave their way through the pathway, with titles as they were last', async () => {
    const world = await sessionWorld(opened.database);
    const enter = (at: number, nodeId: string, edgeId?: string, title = nodeId) =>
      event('node_entered', at, { nodeId, title, why: 'x', edgeId });
    await turn(world, await world.start(), [enter(0, 'a'), enter(10, 'b', 'ab'), enter(30, 'a', 'ba')]);
    await turn(world, await world.start(), [
      enter(0, 'a'),
      enter(20, 'b', 'ab', 'New title'),
      enter(26, 'a'),
    ]);
    await countAll(opened.database);
    const nodes = await readFunnel(world.insights, world.projectId, DAY);
    expect(nodes.map(({ medianSeconds, ...node }) => node)).toEqual([
      { nodeId: 'a', title: 'a', entered: 4, ended: 2, edges: [{ edgeId: 'ab', to: 'b', taken: 2 }] },
      { nodeId: 'b', title: 'New title', entered: 2, ended: 0, edges: [{ edgeId: 'ba', to: 'a', taken: 1 }] },
    ]);
    // At b 20 and 6 s: half of the stays are not longer than 6 s.
    expect(Math.abs((nodes[1]?.medianSeconds ?? 0) / 6 - 1)).toBeLessThan(0.1);
    expect(await readFunnel(world.insights, world.projectId, { ...DAY, filter: { channel: 'web' } })).toEqual(
      [],
    );
  });

  const turn = async (world: SessionWorld, session: Session, events: readonly HistoryEvent[]) => {
    const messages: SessionMessage[] = [];
    await world.stores.sessions.saveTurn({ ...session, turn: 1 }, { messages, events });
    await world.end({ ...session, turn: 1 });
  };

  async function endedCall(
    world: SessionWorld,
    given: { answeredMs?: number; endedMs: number; status?: string; endReason?: string },
    events: readonly HistoryEvent[],
  ): Promise<void> {
    const { call, session, started } = makeCall(world, { toNumber: `+8869${given.endedMs}` });
    await world.stores.calls.insert(call, session, started);
    await opened.database.query(
      'UPDATE calls SET status = $2, end_reason = $3, answered_at = $4, ended_at = $5 WHERE id = $1',
      [
        call.id,
        given.status ?? 'completed',
        given.endReason ?? null,
        given.answeredMs === undefined ? null : later(given.answeredMs),
        later(given.endedMs),
      ],
    );
    await world.stores.history.addEvents(session.instanceId, events);
    await world.end(session, { at: later(given.endedMs) });
  }
});

function event(type: HistoryEvent['type'], seconds: number, data: HistoryEvent['data']): HistoryEvent {
  return { type, at: later(seconds * 1000), data };
}
