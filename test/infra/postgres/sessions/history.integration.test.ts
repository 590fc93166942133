import { beforeEach, describe, expect, test } from 'vitest';
import { toSessionUsage } from '../../../../src/agents/cost/usage.ts';
import type { Call } from '../../../../src/calls/call.ts';
import type { HistoryEvent } from '../../../../src/engine/session/session.ts';
import { makeCall } from '../support/calls.ts';
import { useDatabase } from '../support/databases.ts';
import { agent, BEGIN, later, type SessionWorld, sessionWorld, user } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };

describe('The history', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeEach(async () => {
    world = await sessionWorld(opened.database);
  });
  const history = () => world.stores.history;

  test('contains a session’s messages and events, while it is live and after', async () => {
    const session = await world.start({ sessionId: 's', callId: 'call', channel: 'phone' });
    const event: HistoryEvent = { type: 'node_entered', at: later(2), data: { z: 1, a: [2] } };
    const messages = [user('hi'), { ...agent('thinking'), internal: true as const }, agent('hello', 12.6)];
    const state = { ...session.state, variables: { b: 1, a: 2 }, messages };
    await world.stores.sessions.saveTurn({ ...session, turn: 1, state }, { messages, events: [event] });
    const live = {
      sessionId: 's',
      channel: 'phone',
      release: 'draft',
      status: 'active',
      startedAt: BEGIN,
      endedAt: null,
      callId: 'call',
      disposition: null,
      success: null,
      variables: { b: 1, a: 2 },
      messages: [user('hi'), agent('hello', 12.6)],
      events: [{ type: 'session_started', at: BEGIN, data: { a: 1 } }, event],
      usage: toSessionUsage({}),
      cost: null,
    };
    expect(await history().find(world.projectId, 's')).toEqual(live);

    await world.end(session, { at: later(90_500), reason: 'idle', missingVariables: ['b'] });
    const heard = { voicedSeconds: 2.5, utterances: 4, withWords: 1, withoutWords: 1, dropped: 1, late: 1 };
    await history().addHeard(session.instanceId, heard);
    await history().addHeard(session.instanceId, { ...heard, voicedSeconds: 0.25 });
    await history().addEvents(session.instanceId, [{ type: 'webhook_sent', at: later(91_000), data: {} }]);
    // Stored later than the event that followed it, as those of a turn are.
    await history().addEvents(session.instanceId, [{ type: 'transfer', at: later(90_750), data: {} }]);
    const twice = { voicedSeconds: 2.75, utterances: 8, withWords: 2, withoutWords: 2, dropped: 2, late: 2 };
    expect(await history().find(world.projectId, 's')).toEqual({
      ...live,
      status: 'ended',
      missingVariables: ['b'],
      endedAt: later(90_500),
      events: [
        ...live.events,
        {
          type: 'session_ended',
          at: later(90_500),
          data: { reason: 'idle', missingVariables: ['b'], heard: twice },
        },
        { type: 'transfer', at: later(90_750), data: {} },
        { type: 'webhook_sent', at: later(91_000), data: {} },
      ],
    });
    expect(await history().list(world.projectId, {}, PAGE)).toEqual({
      items: [
        {
          sessionId: 's',
          channel: 'phone',
          release: 'draft',
          status: 'ended',
          startedAt: BEGIN,
          endedAt: later(90_500),
          durationMs: 90_500,
          messageCount: 2,
          callId: 'call',
          disposition: null,
          success: null,
          cost: null,
        },
      ],
      total: 1,
      nextCursor: null,
    });
  });

  test('keeps the instances of a session id apart and shows the latest; hides other projects’', async () => {
    const first = await world.say(await world.start({ sessionId: 's' }), [user('first')]);
    await world.end(first);
    const second = await world.start({ sessionId: 's', startedAt: later(1000) });
    await world.say(second, [user('second')], later(1000));
    expect((await history().find(world.projectId, 's'))?.messages).toEqual([user('second')]);
    expect((await history().list(world.projectId, {}, PAGE)).total).toBe(2);
    const stranger = await sessionWorld(opened.database);
    expect(await history().find(stranger.projectId, 's')).toBeUndefined();
    expect((await history().list(stranger.projectId, {}, PAGE)).total).toBe(0);
  });

  test('accepts messages after the session’s end', async () => {
    const session = await world.say(await world.start({ sessionId: 's' }), [user('hi'), agent('Goodbye.')]);
    await world.end(session);
    await history().addMessages(session.instanceId, [user('One more thing!'), user('Bye.')]);
    const { messages } = (await history().find(world.projectId, 's')) ?? {};
    expect(messages?.map(({ content }) => content)).toEqual(['hi', 'Goodbye.', 'One more thing!', 'Bye.']);
    const { items } = await history().list(world.projectId, { q: 'more thing' }, PAGE);
    expect(items).toMatchObject([{ sessionId: 's', messageCount: 4 }]);
  });

  test('ignores additions to a purged history', async () => {
    await history().addMessages('0197a000-0000-7000-8000-000000000000', [user('hi')]);
    await history().addEvents('0197a000-0000-7000-8000-000000000000', [
      { type: 'webhook_sent', at: BEGIN, data: {} },
    ]);
  });

  test.each([
    ['nothing', {}, ['d', 'c', 'b', 'a']],
    ['a channel', { channel: 'web' as const }, ['b']],
    ['a status', { status: 'ended' }, ['a']],
    ['a begin', { from: later(2000) }, ['d', 'c']],
    ['an exclusive end', { to: later(2000) }, ['b', 'a']],
    ['a span', { from: later(1000), to: later(3000) }, ['c', 'b']],
    ['words, in any case', { q: 'TAIPEI 101' }, ['c']],
    ['literal wildcards', { q: '10_' }, []],
    ['two CJK characters', { q: '明天' }, ['d']],
    ['quotes and line breaks', { q: '"two"\nT' }, ['b']],
    ['nothing that stands in the JSON alone', { q: 'user' }, []],
    ['no letter of an escape', { q: 'nt' }, []],
    [
      'all filters at once',
      { channel: 'chat' as const, status: 'active', from: BEGIN, to: later(2500), q: 'tai' },
      ['c'],
    ],
  ])('filters by %s', async (_what, filter, expected) => {
    const say = ['one', '"two"\nto', 'Taipei 101', '明天下午'];
    for (const [index, sessionId] of ['a', 'b', 'c', 'd'].entries()) {
      const channel = sessionId === 'b' ? 'web' : 'chat';
      const session = await world.start({ sessionId, channel, startedAt: later(index * 1000) });
      await world.say(session, [user(say[index] ?? '')]);
      if (sessionId === 'a') await world.end(session);
    }
    const { items, total } = await history().list(world.projectId, filter, PAGE);
    expect(items.map(({ sessionId }) => sessionId)).toEqual(expected);
    expect(total).toBe(expected.length);
  });

  test('counts by channel, status and UTC day; durations, turns and latencies', async () => {
    const lives = [
      { startedAt: '2026-01-01T23:59:59.999Z', lastsMs: 1000, latencies: [100, 200] },
      { startedAt: '2026-01-02T00:00:00.000Z', lastsMs: 3000, latencies: [300, 400] },
      { startedAt: '2026-01-02T10:00:00.000Z', lastsMs: 5000, latencies: [500] },
    ];
    for (const { startedAt, lastsMs, latencies } of lives) {
      let session = await world.start({ startedAt, channel: lastsMs === 1000 ? 'web' : 'chat' });
      for (const latency of latencies) session = await world.say(session, [user('x'), agent('y', latency)]);
      await world.end(session, { at: new Date(Date.parse(startedAt) + lastsMs).toISOString() });
    }
    await world.start({ startedAt: '2026-01-03T00:00:00.000Z' });
    expect(await history().stats(world.projectId, {})).toEqual({
      total: 4,
      byChannel: { chat: 3, web: 1 },
      byStatus: { active: 1, ended: 3 },
      byDay: [
        { day: '2026-01-01', sessions: 1 },
        { day: '2026-01-02', sessions: 2 },
        { day: '2026-01-03', sessions: 1 },
      ],
      // Between the second and the third of three: 3000 + 0.9 * 2000.
      durationMs: { mean: 3000, p95: 4800 },
      turns: 5,
      // Between the fourth and the fifth of five: 400 + 0.8 * 100.
      turnLatencyMs: { p50: 300, p95: 480 },
      calls: { total: 0, answered: 0, answerRate: null, turnLatencyMs: { p50: null, p95: null } },
    });
    const range = { from: '2026-01-02T00:00:00.000Z', to: '2026-01-03T00:00:00.000Z' };
    expect(await history().stats(world.projectId, range)).toMatchObject({ total: 2, turns: 3 });
  });

  test('returns empty statistics without sessions', async () => {
    expect(await history().stats(world.projectId, {})).toEqual({
      total: 0,
      byChannel: {},
      byStatus: {},
      byDay: [],
      durationMs: { mean: null, p95: null },
      turns: 0,
      turnLatencyMs: { p50: null, p95: null },
      calls: { total: 0, answered: 0, answerRate: null, turnLatencyMs: { p50: null, p95: null } },
    });
  });

  test('counts ended and answered calls, and how long callers waited', async () => {
    const kept = async (change: Partial<Call>, latencies: readonly number[] = []) => {
      const { call, session, started } = makeCall(world, change);
      await world.stores.calls.insert(call, session, started);
      if (latencies.length === 0) return;
      const said = latencies.map((latency) => agent('y', latency));
      await world.say(session, [user('x'), ...said]);
    };
    const over = { endedAt: BEGIN } as const;
    await kept({ ...over, status: 'completed', answeredAt: BEGIN }, [100, 300]);
    await kept({ ...over, status: 'busy' });
    await kept({ ...over, status: 'no_answer' });
    await kept({ status: 'in_progress', answeredAt: BEGIN });
    await world.say(await world.start(), [user('x'), agent('y', 9000)]);
    expect((await history().stats(world.projectId, {})).calls).toEqual({
      total: 3,
      answered: 1,
      answerRate: 1 / 3,
      turnLatencyMs: { p50: 200, p95: 290 },
    });
  });

  test('without retention shows nothing', async () => {
    const secretive = await sessionWorld(opened.database, { historyRetentionDays: 0 });
    const session = await secretive.say(await secretive.start({ sessionId: 's' }), [user('x')]);
    await secretive.end(session, { at: later(0) });
    expect(await history().find(secretive.projectId, 's')).toBeUndefined();
    expect(await history().list(secretive.projectId, {}, PAGE)).toEqual({
      items: [],
      total: 0,
      nextCursor: null,
    });
    expect((await history().stats(secretive.projectId, {})).total).toBe(0);
  });
});
