import { beforeEach, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { Call } from '../../../../src/calls/call.ts';
import { violationsOf } from '../../../../src/calls/call.ts';
import { countNext } from '../../../../src/infra/postgres/results/countSessions.ts';
import { removeExpired } from '../../../../src/infra/postgres/retention.ts';
import { leasedWork } from '../../../../src/infra/postgres/work/claims.ts';
import { SCHEDULED_CALLS } from '../../../../src/infra/postgres/work/tables.ts';
import { makeCall } from '../support/calls.ts';
import { useDatabase } from '../support/databases.ts';
import { agent, BEGIN, later, type SessionWorld, sessionWorld, user } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };
const NODE = 'node-1';
const NOT_IDS = ['', 'rubbish', "' OR 1=1", '0197a000-0000-7000-8000-00000000000g'];
const date = (ms: number) => new Date(later(ms));

describe('Calls', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeEach(async () => {
    await opened.database.query('DELETE FROM projects');
    await opened.database.query('DELETE FROM nodes');
    await opened.database.query('DELETE FROM recording_removals');
    world = await sessionWorld(opened.database);
  });

  const keep = async (change: Partial<Call> = {}, where: SessionWorld = world): Promise<Call> => {
    const { call, session, started } = makeCall(where, change);
    await where.stores.calls.insert(call, session, started);
    return call;
  };
  const find = (call: Call) => world.stores.calls.find(call.projectId, call.id);
  const eventsOf = async ({ sessionId }: Call) =>
    (await world.stores.history.find(world.projectId, sessionId))?.events.map(({ type, data }) => [
      type,
      data,
    ]);

  test('of tests are listed and found only where they are asked for, and hold no slot', async () => {
    const { call, session, started } = makeCall(world, { status: 'in_progress', isTest: true });
    const test = { releaseId: world.releaseId, toolMocks: [], allowRealTools: false };
    const state = { ...session.state, test };
    await world.stores.calls.insert(call, { ...session, state }, started);
    const listed = (includeTests?: boolean) =>
      world.stores.calls.list(world.projectId, { ...(includeTests ? { includeTests } : {}) }, PAGE);
    expect((await listed()).items).toEqual([]);
    expect((await listed(true)).items).toEqual([call]);
    expect(await find(call)).toEqual(call);
    expect((await world.stores.sessions.search(world.projectId, 'Ada', PAGE)).items).toEqual([]);
    expect(await world.stores.slotHolders.ofProject(world.projectId)).toEqual([]);
    expect((await world.stores.history.list(world.projectId, {}, PAGE)).items).toEqual([]);
    expect(
      (await world.stores.history.list(world.projectId, { includeTests: true }, PAGE)).items,
    ).toMatchObject([{ test: true }]);
    await world.end({ ...session, state }, { expected: [], subscribed: [] });
    expect(await opened.database.query('SELECT FROM webhook_outbox')).toEqual([]);
  });

  test('are stored completely, together with their sessions', async () => {
    const { call, session, started } = makeCall(world, {
      sip: { code: 180, reason: 'Ringing' },
      settings: {
        ringTimeoutSeconds: 5,
        maxDurationSeconds: 60,
        record: false,
        media: { url: 'wss://example.com/bot', dialect: 'twilio' },
        asGiven: { fromNumber: '0223456789', toNumber: '0912345678' },
      },
    });
    await world.stores.calls.insert(call, session, started);
    expect(await find(call)).toEqual(call);
    expect(await world.stores.sessions.find(world.projectId, call.sessionId)).toEqual(session);
    for (const id of [...NOT_IDS, uuidV7()]) {
      expect(await world.stores.calls.find(world.projectId, id)).toBeUndefined();
    }
    expect(await world.stores.calls.find(uuidV7(), call.id)).toBeUndefined();
  });

  test('leave no session when the number has a live outbound call', async () => {
    const first = await keep();
    const second = makeCall(world);
    await expect(
      world.stores.calls.insert(second.call, second.session, second.started),
    ).rejects.toMatchObject({ category: 'conflict', code: 'number_already_queued' });
    expect(await world.stores.sessions.find(world.projectId, second.call.sessionId)).toBeUndefined();

    const other = await sessionWorld(opened.database);
    await keep({}, other);
    await keep({ direction: 'inbound', status: 'ringing' });
    await keep({ toNumber: '+886900000000' });
    await world.stores.calls.update(first.id, null, { status: 'busy', endedAt: later(1) });
    await keep();
  });

  test('leave no call when the session id is in use', async () => {
    const { sessionId } = await world.start();
    const { call, session, started } = makeCall(world, { sessionId });
    await expect(world.stores.calls.insert(call, session, started)).rejects.toMatchObject({
      code: 'session_id_in_use',
    });
    expect(await find(call)).toBeUndefined();
  });

  test('are listed by their end, their time, their numbers and what was said', async () => {
    const { call, session, started } = makeCall(world, { toNumber: '+886911111111', createdAt: later(5) });
    await world.stores.calls.insert(call, session, started);
    await world.say(session, [user('My order is 50% late')]);
    const over = await keep({ status: 'completed', endedAt: BEGIN });
    const ids = async (filter: Parameters<typeof world.stores.calls.list>[1]) =>
      (await world.stores.calls.list(world.projectId, filter, PAGE)).items.map(({ id }) => id);
    expect(await ids({ isLive: true })).toEqual([call.id]);
    expect(await ids({ isLive: false })).toEqual([over.id]);
    expect(await ids({ from: later(1) })).toEqual([call.id]);
    expect(await ids({ to: later(1) })).toEqual([over.id]);
    expect(await ids({ number: '91111111' })).toEqual([call.id]);
    expect(await ids({ number: '+886911111112' })).toEqual([]);
    expect(await ids({ q: 'ORDER is 50%' })).toEqual([call.id]);
    expect(await ids({ q: 'order_is' })).toEqual([]);
  });

  test('are listed by their external id and by values of their metadata, as text or as written', async () => {
    const metadata = { order: 7, vip: true, none: null, 'a.b': 'x', text: '8', list: [7] };
    const call = await keep({ externalId: 'order-7', metadata, toNumber: '+886911111111' });
    await keep({ metadata: { order: 77, 'a.b': 'X' } });
    const ids = async (filter: Parameters<typeof world.stores.calls.list>[1]) =>
      (await world.stores.calls.list(world.projectId, filter, PAGE)).items.map(({ id }) => id);
    expect(await ids({ externalId: 'order-7' })).toEqual([call.id]);
    expect(await ids({ externalId: 'order' })).toEqual([]);
    for (const [key, value] of [
      ['order', '7'],
      ['vip', 'true'],
      ['none', 'null'],
      ['a.b', 'x'],
      ['text', '8'],
    ] as const)
      expect([key, await ids({ metadata: { [key]: value } })]).toEqual([key, [call.id]]);
    expect(await ids({ metadata: { order: '7', 'a.b': 'x' } })).toEqual([call.id]);
    for (const [key, value] of [
      ['order', '8'],
      ['order', ''],
      ['list', '7'],
      ['constructor', '7'],
      ['text', '\0'],
      ["order' OR 1=1", '7'],
    ] as const)
      expect([key, await ids({ metadata: { [key]: value } })]).toEqual([key, []]);
  });

  test('tell the names and values of their metadata, variables, criteria and data, and are found by their outcome', async () => {
    const call = await keep({ metadata: { b: 1, a: 2 } });
    const none = await keep({ metadata: {}, toNumber: '+886911111111' });
    const ids = async (filter: Parameters<typeof world.stores.calls.list>[1]) =>
      (await world.stores.calls.list(world.projectId, filter, PAGE)).items.map(({ id }) => id);
    await world.stores.analyses.save(call.instanceId, {
      evaluation: {
        criteria: [
          { name: 'polite', passed: true, reason: '' },
          { name: 'warmth', type: 'score', score: 4, reason: '' },
        ],
      },
      analysis: { status: 'done', disposition: 'booked', success: true, data: { guests: 2 }, model: 'm' },
    });
    const { calls, history } = world.stores;
    expect(await ids({ disposition: 'booked' })).toEqual([call.id]);
    expect(await ids({ success: true, disposition: 'booked' })).toEqual([call.id]);
    for (const filter of [{ disposition: 'other' }, { success: false }])
      expect(await ids(filter)).toEqual([]);
    expect(await history.analyses(world.projectId, [call.id, none.id])).toEqual(
      new Map([[call.id, expect.objectContaining({ disposition: 'booked', data: { guests: 2 } })]]),
    );
    expect(await calls.resultNames(world.projectId, {}, 9)).toEqual({
      metadata: ['a', 'b'],
      variables: ['name'],
      evaluation: ['polite', 'warmth'],
      data: ['guests'],
    });
    expect(await calls.resultNames(world.projectId, { metadata: { a: '3' } }, 9)).toEqual({
      metadata: [],
      variables: [],
      evaluation: [],
      data: [],
    });
    expect((await calls.resultNames(world.projectId, {}, 1)).metadata).toEqual(['a']);
    const results = await calls.results(world.projectId, [call.instanceId, none.instanceId]);
    expect(results.get(call.instanceId)).toEqual({
      variables: { name: 'Ada' },
      evaluation: { polite: true, warmth: 4 },
    });
    expect(results.get(none.instanceId)).toEqual({ variables: { name: 'Ada' }, evaluation: {} });
    expect(await calls.results(uuidV7(), [call.instanceId])).toEqual(new Map());
  });

  test('keep how their audio arrived, and the waveform of their recording as long as it', async () => {
    const { calls } = world.stores;
    const recording = { status: 'ready', key: 'k', durationMs: 1200, error: null } as const;
    const call = await keep({ recording });
    const sample = {
      atMs: 1,
      packetsReceived: 250,
      packetsLost: 0,
      jitterMs: 1,
      mos: 4.4,
      roundTripMs: null,
    };
    const mediaSamples = { intervalMs: 5000, samples: [sample] };
    const peaks = { intervalMs: 20, caller: 'AA==', agent: '/w==' };
    expect(await calls.mediaSamples(call.projectId, call.id)).toBeUndefined();
    await calls.update(call.id, null, { status: 'completed', endedAt: BEGIN, mediaSamples });
    await calls.savePeaks(call.id, 'another', peaks);
    expect(await calls.peaks(call.projectId, call.id)).toBeUndefined();
    await calls.savePeaks(call.id, 'k', peaks);
    expect(await calls.mediaSamples(call.projectId, call.id)).toEqual(mediaSamples);
    expect(await calls.peaks(call.projectId, call.id)).toEqual(peaks);
    for (const [projectId, id] of [
      [uuidV7(), call.id] as const,
      ...NOT_IDS.map((id) => [call.projectId, id] as const),
    ]) {
      expect(await calls.mediaSamples(projectId, id)).toBeUndefined();
      expect(await calls.peaks(projectId, id)).toBeUndefined();
    }
  });

  test('are listed newest first, by direction, status and session', async () => {
    const old = await keep({ createdAt: later(-1000), status: 'failed' });
    const young = await keep();
    const inbound = await keep({ createdAt: later(1000), direction: 'inbound', status: 'ringing' });
    await keep({}, await sessionWorld(opened.database));
    const ids = async (filter: Parameters<typeof world.stores.calls.list>[1], page = PAGE) =>
      (await world.stores.calls.list(world.projectId, filter, page)).items.map(({ id }) => id);
    expect(await ids({})).toEqual([inbound.id, young.id, old.id]);
    expect(await ids({ direction: 'outbound' })).toEqual([young.id, old.id]);
    expect(await ids({ status: ['failed'] })).toEqual([old.id]);
    expect(await ids({ status: ['ringing', 'failed'] })).toEqual([inbound.id, old.id]);
    expect(await ids({ sessionId: young.sessionId })).toEqual([young.id]);
    expect(await ids({}, { limit: 1, offset: 1 })).toEqual([young.id]);
    expect((await world.stores.calls.list(world.projectId, {}, { limit: 1, offset: 0 })).total).toBe(3);
  });

  test('are listed by whether they have violations', async () => {
    const answered = { status: 'completed', answeredAt: later(4), endedAt: later(9) } as const;
    const owed = (machines: boolean) => ({ disclosures: [{ id: 'who', withinSeconds: 9, machines }] });
    const some = [
      await keep({ ...answered, ...owed(true), answeringMachine: 'machine' }),
      await keep({ ...answered, ...owed(false), answeringMachine: null }),
    ];
    const none = [
      await keep(answered),
      await keep({ ...answered, ...owed(false), answeringMachine: 'machine' }),
      await keep({ ...owed(true), status: 'no_answer', endedAt: later(9) }),
      await keep({ ...owed(true), status: 'in_progress', answeredAt: later(4) }),
    ];
    for (const [violations, expected] of [
      [true, some],
      [false, none],
    ] as const) {
      const { items } = await world.stores.calls.list(world.projectId, { violations }, PAGE);
      expect(items.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
      expect(items.map((call) => violationsOf(call).length > 0)).toEqual(expected.map(() => violations));
    }
    const [found] = some;
    const { calls } = world.stores;
    expect(await calls.find(world.projectId, found?.id ?? '')).toMatchObject(owed(true));
  });

  test('are claimed by one of many nodes', async () => {
    const call = await keep();
    const claims = await Promise.all(['a', 'b', 'c'].map((node) => world.stores.calls.claim(call.id, node)));
    const [winner, ...others] = claims.filter((claim) => claim !== undefined);
    expect(others).toEqual([]);
    expect(winner).toEqual({ ...call, nodeId: winner?.nodeId });
    await world.stores.calls.releaseClaim(call.id, 'somebody else');
    expect((await find(call))?.nodeId).toBe(winner?.nodeId);
    expect(await world.stores.calls.releaseClaim(call.id, winner?.nodeId ?? '')).toBe(false);
    expect(await world.stores.calls.claim(call.id, NODE)).toBeDefined();
    await world.stores.calls.requestHangup(world.projectId, call.id, later(2));
    expect(await world.stores.calls.releaseClaim(call.id, NODE)).toBe(true);
    expect(await world.stores.calls.claim(call.id, NODE)).toMatchObject({ hangupRequested: true });
    await world.stores.calls.update(call.id, NODE, { status: 'dialing' });
    await world.stores.calls.releaseClaim(call.id, NODE);
    expect((await find(call))?.nodeId).toBe(NODE);
  });

  describe('that are scheduled', () => {
    const scheduled = (change: Partial<Call> = {}) =>
      keep({ status: 'scheduled', notBefore: later(1000), ...change });
    const due = async (ms: number, retryMs = ms + 10) =>
      (
        await leasedWork(opened.database, SCHEDULED_CALLS).claimDue(date(ms), date(retryMs), {
          rows: 10,
          perProject: 10,
          leftByProject: new Map(),
        })
      ).claimed.map(({ id }) => id);

    test('are taken by one node when they are due, and again when they were not queued', async () => {
      const other = await scheduled({ notBefore: later(900), toNumber: '+886900000001' });
      const call = await scheduled();
      expect(await due(899)).toEqual([]);
      expect(await due(900)).toEqual([other.id]);
      const taken = await Promise.all([due(1000), due(1000), due(1000)]);
      expect(taken.flat().sort()).toEqual([call.id, other.id].sort());
      expect(await due(1009)).toEqual([]);
      expect((await due(1010)).sort()).toEqual([call.id, other.id].sort());
      expect(await world.stores.calls.listQueued(10)).toEqual([]);
      expect(await world.stores.calls.claim(call.id, NODE)).toBeUndefined();
    });

    test('hold no number; queued, they do', async () => {
      const call = await scheduled();
      const second = await scheduled();
      const { calls, history } = world.stores;
      expect(await calls.queueScheduled(call, later(1001))).toEqual({ ...call, status: 'queued' });
      expect(await calls.queueScheduled(call, later(1002))).toBeUndefined();
      await expect(calls.queueScheduled(second, later(1002))).rejects.toMatchObject({
        code: 'number_already_queued',
      });
      expect((await find(second))?.status).toBe('scheduled');
      expect((await history.find(world.projectId, call.sessionId))?.events.at(-1)).toMatchObject({
        type: 'call_status',
        data: { status: 'queued' },
      });
    });

    test('are canceled by a hang-up at once', async () => {
      const call = await scheduled();
      const canceled = await world.stores.calls.requestHangup(world.projectId, call.id, later(5));
      expect(canceled).toMatchObject({ status: 'canceled', endReason: 'api_hangup' });
      expect(await due(1000)).toEqual([]);
      expect(await world.stores.calls.queueScheduled(call, later(1001))).toBeUndefined();
    });

    test('wait for a later time when they are postponed, queued or not', async () => {
      const callback = await scheduled();
      const { calls } = world.stores;
      const postponed = { status: 'scheduled', notBefore: later(500), nodeId: null };
      await calls.postpone(callback.id, null, later(500));
      expect(await find(callback)).toMatchObject(postponed);
      const queued = await keep({ toNumber: '+886900000002' });
      await calls.claim(queued.id, NODE);
      await calls.postpone(queued.id, 'another', later(500));
      expect(await find(queued)).toMatchObject({ status: 'queued', nodeId: NODE });
      await calls.postpone(queued.id, NODE, later(500));
      expect(await find(queued)).toMatchObject(postponed);
      expect(await due(499)).toEqual([]);
      expect((await due(500)).toSorted()).toEqual([callback.id, queued.id].toSorted());
    });

    test('and are callbacks give way to the next callback to their number', async () => {
      const ordered = await scheduled();
      const isCallback = { ...ordered.settings, isCallback: true };
      const callback = await scheduled({ settings: isCallback });
      const elsewhere = await scheduled({ settings: isCallback, toNumber: '+886900000001' });
      const { calls, quotas } = world.stores;
      const count = (since: string) => calls.countCallbacks(world.projectId, callback.toNumber, since);
      expect(await Promise.all([callback.createdAt, later(1_000_000)].map(count))).toEqual([1, 0]);
      const replaced = await calls.replaceCallbacks(world.projectId, callback.toNumber, later(7));
      expect(replaced.map(({ id, status }) => [id, status])).toEqual([[callback.id, 'canceled']]);
      expect(await find(callback)).toMatchObject({ status: 'canceled', endReason: 'rescheduled' });
      expect([(await find(ordered))?.status, (await find(elsewhere))?.status]).toEqual([
        'scheduled',
        'scheduled',
      ]);
      expect((await quotas.readAll(world.projectId)).scheduledCalls).toBe(2);
    });
  });

  test('never end before their answer time, whatever the clock of the node', async () => {
    const answered = await keep({ status: 'in_progress', nodeId: NODE, answeredAt: later(20) });
    const { calls } = world.stores;
    const ended = await calls.update(answered.id, null, { status: 'failed', endedAt: later(10) });
    expect(ended?.endedAt).toBe(later(20));
    const queued = await keep({ createdAt: later(30) });
    expect((await calls.requestHangup(world.projectId, queued.id, later(29)))?.endedAt).toBe(later(30));
  });

  test('are updated while they are live, by their node, with an event in the history', async () => {
    const call = await keep({ nodeId: NODE });
    const { calls } = world.stores;
    const trunkId = uuidV7();
    const event = { type: 'call_status', at: later(5), data: { status: 'ringing' } } as const;
    expect(await calls.update(call.id, 'another', { status: 'ringing' })).toBeUndefined();
    const ringing = await calls.update(
      call.id,
      NODE,
      { status: 'ringing', trunkId, startedAt: later(4) },
      event,
    );
    expect(ringing).toEqual({ ...call, status: 'ringing', trunkId, startedAt: later(4) });
    expect(await calls.update(call.id, NODE, {})).toEqual(ringing);
    const figures = {
      codec: 'PCMU',
      packetsReceived: 2,
      packetsLost: 1,
      shed: 1,
      concealedMs: 20,
      underruns: 2,
      jitterMs: 0.5,
      jitterBufferMs: 35,
      mos: 4.1,
    } as const;
    const ended = await calls.update(call.id, null, {
      status: 'completed',
      endReason: 'agent_hangup',
      sip: { code: 200, reason: 'OK' },
      q850Cause: 16,
      sipCallId: 'a@b',
      answeredAt: later(6),
      endedAt: later(9),
      mediaQuality: figures,
    });
    expect(ended).toMatchObject({
      status: 'completed',
      mediaQuality: figures,
      endedAt: later(9),
      sip: { code: 200 },
    });
    expect(await calls.update(call.id, NODE, { status: 'failed' })).toBeUndefined();
    expect(await find(call)).toEqual(ended);
    await calls.setAnsweringMachine(call.id, 'machine');
    expect(await find(call)).toEqual({ ...ended, answeringMachine: 'machine' });
    expect(await eventsOf(call)).toEqual([
      ['session_started', {}],
      ['call_status', { status: 'ringing' }],
    ]);
  });

  test('are canceled at once while queued; others get a hangup request', async () => {
    const { calls } = world.stores;
    const waiting = await keep();
    const canceled = await calls.requestHangup(world.projectId, waiting.id, later(7));
    expect(canceled).toMatchObject({ status: 'canceled', endReason: 'api_hangup', endedAt: later(7) });
    expect(await calls.claim(waiting.id, NODE)).toBeUndefined();
    expect(await calls.requestHangup(world.projectId, waiting.id, later(9))).toBeUndefined();
    expect(await eventsOf(waiting)).toEqual([
      ['session_started', {}],
      ['call_status', { status: 'canceled', endReason: 'api_hangup' }],
    ]);

    const carried = await keep({ nodeId: NODE, status: 'in_progress' });
    expect(await calls.requestHangup(world.projectId, carried.id, later(7))).toEqual({
      ...carried,
      hangupRequested: true,
    });
    expect(await eventsOf(carried)).toHaveLength(1);
    for (const id of NOT_IDS) expect(await calls.requestHangup(world.projectId, id, BEGIN)).toBeUndefined();
    expect(await calls.requestHangup(uuidV7(), carried.id, BEGIN)).toBeUndefined();
  });

  test('are listed page by page while queued, oldest first', async () => {
    const waiting = [];
    for (const last of [1, 2, 3]) waiting.push(await keep({ toNumber: `+88691234560${last}` }));
    const claimed = await keep({ toNumber: '+886912345604' });
    await world.stores.calls.claim(claimed.id, NODE);
    const [first, second, third] = await world.stores.calls.listQueued(10);
    expect([first?.id, second?.id, third?.id]).toEqual(waiting.map(({ id }) => id));
    expect(first).toEqual({
      id: waiting[0]?.id,
      projectId: world.projectId,
      toNumber: '+886912345601',
    });
    expect(await world.stores.calls.listQueued(10, second?.id)).toEqual([third]);
    expect(await world.stores.calls.listQueued(2)).toEqual([first, second]);
  });

  test('of a dead node are orphans until they are settled', async () => {
    const { calls } = world.stores;
    await calls.recordHeartbeat('alive', date(0));
    await calls.recordHeartbeat('silent', date(-40_000));
    const at = { status: 'in_progress' } as const;
    await keep({ ...at, toNumber: '+886912345601', nodeId: 'alive' });
    const silent = await keep({ ...at, toNumber: '+886912345602', nodeId: 'silent' });
    const unknown = await keep({ ...at, toNumber: '+886912345603', nodeId: 'never seen' });
    await keep({ toNumber: '+886912345604' });
    const orphans = await calls.listOrphans(date(-30_000), 10);
    expect(orphans).toEqual([
      { call: silent, lastSeenAt: later(-40_000) },
      { call: unknown, lastSeenAt: null },
    ]);
    expect(await calls.listOrphans(date(-30_000), 1, silent.id)).toEqual(orphans.slice(1));
    await calls.update(silent.id, null, { status: 'failed', endedAt: later(0) });
    expect(await calls.listOrphans(date(-30_000), 10)).toHaveLength(2);
    expect(await calls.listUnsettledOn('silent')).toMatchObject([
      { call: { id: silent.id }, lastSeenAt: expect.any(String) },
    ]);
    await calls.markSettled(silent.id);
    expect((await calls.listOrphans(date(-30_000), 10)).map(({ call }) => call.id)).toEqual([unknown.id]);
    expect(await calls.listUnsettledOn('silent')).toEqual([]);
    await calls.recordHeartbeat('never seen', date(0));
    expect(await calls.listOrphans(date(-30_000), 10)).toEqual([]);
    await calls.recordHeartbeat('never seen', date(-60_000));
    expect(await calls.listOrphans(date(-30_000), 10)).toEqual([]);
  });

  test('that have ended are orphans once their recording is no longer being stored', async () => {
    const { calls } = world.stores;
    await calls.recordHeartbeat(NODE, date(3_600_000));
    const over = { status: 'completed', nodeId: NODE, endedAt: later(0) } as const;
    const unanswered = await keep({ ...over, status: 'busy' });
    const storing = await keep({ ...over, answeredAt: BEGIN });
    const stored = await keep({
      ...over,
      answeredAt: BEGIN,
      recording: { status: 'ready', key: 'a.wav', durationMs: 5, error: null },
    });
    const ids = async (before: number) =>
      (await calls.listOrphans(date(before), 10)).map(({ call }) => call.id);
    expect(await ids(0)).toEqual([]);
    expect(await ids(1)).toEqual([unanswered.id, stored.id]);
    expect(await ids(15 * 60_000 + 1)).toEqual([unanswered.id, storing.id, stored.id]);
  });

  test('lend the dialogs of a failed node to one survivor, and keep those of running calls', async () => {
    const { dialogs, calls } = world.stores;
    const [running, lost, ended, justEnded] = [
      await keep({ toNumber: '+886912345671' }),
      await keep({ toNumber: '+886912345672' }),
      await keep({ toNumber: '+886912345673' }),
      await keep({ toNumber: '+886912345674' }),
    ];
    const deleted = uuidV7();
    const trunkId = uuidV7();
    const dialogOf = (callId: string, remoteTarget = 'sip:a@192.0.2.1') => ({
      dialogId: `dialog of ${callId}`,
      callId,
      trunkId,
      sipCallId: 'x',
      localAddress: '<sip:us@example.com>;tag=1',
      remoteAddress: '<sip:them@example.com>;tag=2',
      remoteTarget,
      routeSet: ['<sip:proxy.example;lr>'],
      localSequence: 1,
    });
    for (const callId of [running.id, lost.id, ended.id, justEnded.id, deleted]) {
      await dialogs.save(dialogOf(callId, 'sip:old@192.0.2.1'));
      await dialogs.save(dialogOf(callId));
    }
    const now = new Date().toISOString();
    await calls.update(lost.id, null, { status: 'failed', endReason: 'node_lost', endedAt: now });
    await calls.update(ended.id, null, { status: 'completed', endedAt: new Date(BEGIN).toISOString() });
    await calls.update(justEnded.id, null, { status: 'completed', endedAt: now });

    const taken = (await Promise.all([dialogs.takeLost(10), dialogs.takeLost(10)])).flat();
    expect(taken.map(({ callId }) => callId).sort()).toEqual([lost.id, ended.id, deleted].sort());
    expect(taken.find(({ callId }) => callId === lost.id)).toEqual(dialogOf(lost.id));
    await dialogs.remove(dialogOf(justEnded.id).dialogId);
    expect(
      await opened.database.query<{ call_id: string }>('DELETE FROM call_dialogs RETURNING call_id'),
    ).toEqual([{ call_id: running.id }]);
  });

  test('get the result of their recording once', async () => {
    const { calls } = world.stores;
    const call = await keep({ status: 'completed', endedAt: BEGIN });
    const begun = { status: 'recording', key: 'k', durationMs: null, error: null } as const;
    const ready = { status: 'ready', key: 'k', durationMs: 1200, bytes: 19_244, error: null } as const;
    const storedBytes = async () => (await world.stores.quotas.readAll(call.projectId)).storedBytes;
    const before = await storedBytes();
    expect((await calls.completeRecording(call.id, begun))?.recording).toEqual(begun);
    expect((await calls.completeRecording(call.id, ready))?.recording).toEqual(ready);
    const failed = { ...ready, status: 'failed' } as const;
    expect(await calls.completeRecording(call.id, failed)).toBeUndefined();
    expect((await find(call))?.recording).toEqual(ready);
    expect(await storedBytes()).toBe(before + 19_244);
    await opened.database.query('DELETE FROM calls WHERE id = $1', [call.id]);
    expect(await storedBytes()).toBe(before);
  });

  test('report their turn latencies', async () => {
    const { call, session, started } = makeCall(world);
    await world.stores.calls.insert(call, session, started);
    await world.say(session, [user('a'), agent('b', 100), agent('c', 200), agent('d', 301)]);
    const { instanceId } = await keep({ toNumber: '+886900000000' });
    expect(await world.stores.calls.turnLatencies([call.instanceId, instanceId])).toEqual(
      new Map([[call.instanceId, { p50: 200, p95: 291 }]]),
    );
    expect(await world.stores.calls.turnLatencies([])).toEqual(new Map());
  });

  test('keep their SIP messages in order, and only their own', async () => {
    const { sipTraces } = world.stores;
    const call = await keep();
    const message = (text: string, direction: 'in' | 'out' = 'out') =>
      ({ at: BEGIN, direction, transport: 'udp', remote: '192.0.2.1:5060', text }) as const;
    await sipTraces.append(world.projectId, call.id, [message('INVITE'), message('SIP/2.0 100', 'in')]);
    await sipTraces.append(world.projectId, call.id, []);
    await sipTraces.append(world.projectId, call.id, [message('a\0b\ud800')]);
    await sipTraces.append(uuidV7(), call.id, [message('forged')]);
    await sipTraces.append(world.projectId, uuidV7(), [message('lost')]);
    const kept = [message('INVITE'), message('SIP/2.0 100', 'in'), message('a\ufffdb\ufffd')];
    expect(await sipTraces.list(world.projectId, call.id)).toEqual(kept);
    expect(await sipTraces.list(uuidV7(), call.id)).toEqual([]);
    for (const id of NOT_IDS) expect(await sipTraces.list(world.projectId, id)).toEqual([]);
  });

  test('are removed with their history, and leave the keys of their recordings', async () => {
    const { calls, projects, recordingRemovals, sipTraces } = world.stores;
    const over = { status: 'completed', answeredAt: BEGIN, endedAt: BEGIN } as const;
    const recording = { status: 'ready', key: 'one.wav', durationMs: 1, error: null } as const;
    const { call, session, started } = makeCall(world, { ...over, recording });
    await calls.insert(call, session, started);
    await sipTraces.append(world.projectId, call.id, [
      { at: BEGIN, direction: 'in', transport: 'udp', remote: 'a', text: 'b' },
    ]);
    await keep({ ...over });
    await world.end(session);
    const DAY_MS = 86_400_000;
    await removeExpired(opened.database, 'sessions', date(29 * DAY_MS));
    expect(await find(call)).toBeDefined();
    await countNext(opened.database);
    await removeExpired(opened.database, 'sessions', date(31 * DAY_MS));
    expect(await find(call)).toBeUndefined();
    expect(await opened.database.query('SELECT id FROM sip_trace')).toEqual([]);
    expect(await recordingRemovals.due(10)).toEqual(['one.wav']);

    await keep({ ...over, recording: { ...recording, key: 'two.wav' } });
    await projects.remove(world.projectId);
    expect(await recordingRemovals.due(10)).toEqual(['one.wav', 'two.wav']);
    expect(await recordingRemovals.due(1)).toEqual(['one.wav']);
    expect(await recordingRemovals.due(1, 'one.wav')).toEqual(['two.wav']);
    await recordingRemovals.done('one.wav');
    expect(await recordingRemovals.due(10)).toEqual(['two.wav']);
  });
});
