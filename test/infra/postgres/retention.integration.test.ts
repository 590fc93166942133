import { beforeEach, describe, expect, test } from 'vitest';

import type { RetentionDaysPatch } from '../../../src/agents/accounts/retention.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import { countNext } from '../../../src/infra/postgres/results/countSessions.ts';
import { EXPIRED, type Expired, removeExpired } from '../../../src/infra/postgres/retention.ts';
import { makeCall } from './support/calls.ts';
import { useDatabase } from './support/databases.ts';
import { BEGIN, later, type SessionWorld, sessionWorld, user } from './support/sessions.ts';

const DAY_MS = 86_400_000;

describe('Retention', () => {
  const opened = useDatabase();
  beforeEach(() => opened.database.query('DELETE FROM projects'));

  const count = async (table: string): Promise<number> => {
    const [row] = await opened.database.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${table}`);
    return row?.n ?? 0;
  };
  const expire = async (what: Expired, ms: number) => {
    await countNext(opened.database);
    return await removeExpired(opened.database, what, new Date(Date.parse(BEGIN) + ms));
  };
  const finishWebhooks = () => opened.database.query('DELETE FROM webhook_outbox');
  const ended = async (from: SessionWorld, at = BEGIN) => {
    const session = await from.say(await from.start(), [user('x')]);
    await from.end(session, { at });
    return session;
  };

  test('of sessions is historyRetentionDays, with all rows, and spares live ones', async () => {
    const world = await sessionWorld(opened.database);
    const long = await sessionWorld(opened.database, { historyRetentionDays: 90 });
    const forEver = await sessionWorld(opened.database, { historyRetentionDays: null });
    await ended(world);
    const others = [
      await ended(world, later(1000)),
      await ended(long),
      await world.start(),
      await ended(forEver),
    ];
    await finishWebhooks();
    expect(await expire('sessions', 30 * DAY_MS - 1)).toBe(0);
    expect(await expire('sessions', 30 * DAY_MS)).toBe(1);
    const left = await opened.database.query<{ instance_id: string }>(
      'SELECT instance_id FROM session_history',
    );
    expect(left.map(({ instance_id }) => instance_id).sort()).toEqual(
      others.map((one) => one.instanceId).sort(),
    );
    expect(await count('session_messages')).toBe(3);
  });

  test('of sessions that are not kept waits for their webhooks, at most a day', async () => {
    const world = await sessionWorld(opened.database, { historyRetentionDays: 0 });
    await ended(world);
    expect(await expire('sessions', DAY_MS - 1)).toBe(0);
    await ended(world, later(60_000));
    await finishWebhooks();
    expect(await expire('sessions', 59_999)).toBe(1);
    await ended(world);
    expect(await expire('sessions', DAY_MS)).toBe(2);
    expect(await count('session_messages')).toBe(0);
  });

  test.each([
    [{}, 30],
    [{ tests: 2 }, 2],
  ])('of test runs takes their sessions along, which outlive other ones: %j', async (retentionDays, days) => {
    const world = await sessionWorld(opened.database, { historyRetentionDays: 1, retentionDays });
    const { instanceId } = await ended(world);
    await finishWebhooks();
    await opened.database.query('UPDATE session_history SET is_test = true');
    await opened.database.query(
      `INSERT INTO test_runs (id, project_id, name, status, version, repeat, concurrency, seed, release_id, plays,
         created_at)
       VALUES ($1, $2, 'run', 'passed', 'live', 1, 4, 1, 'release', 1, $3)`,
      [instanceId, world.projectId, BEGIN],
    );
    await opened.database.query(
      `INSERT INTO test_plays (run_id, number, position, index, seed, channel, status, instance_id)
       VALUES ($1, 0, 0, 0, 1, 'chat', 'passed', $1)`,
      [instanceId],
    );

    expect(await expire('sessions', days * DAY_MS)).toBe(0);
    expect(await expire('tests', days * DAY_MS - 1)).toBe(0);
    expect(await expire('tests', days * DAY_MS)).toBe(1);
    expect(await count('session_history')).toBe(0);
  });

  test('goes on in batches until it is asked to stop', async () => {
    const { projectId } = await sessionWorld(opened.database);
    await opened.database.query(
      `INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at, ended_at)
       SELECT gen_random_uuid(), $1, n::text, 'chat', 'ended', $2, $2 FROM generate_series(1, 201) AS n`,
      [projectId, BEGIN],
    );
    const now = new Date(Date.parse(BEGIN) + 31 * DAY_MS);
    expect(await removeExpired(opened.database, 'sessions', now, () => true)).toBe(0);
    expect(await removeExpired(opened.database, 'sessions', now)).toBe(201);
  });

  test.each<[number | null, RetentionDaysPatch, number]>([
    [7, {}, 7],
    [0, {}, 30],
    [null, { deliveries: 12 }, 12],
    [7, { deliveries: 45 }, 45],
  ])(
    'of deliveries, with sessions for %s days and %j, is %i days',
    async (historyRetentionDays, days, after) => {
      const world = await sessionWorld(opened.database, { historyRetentionDays, retentionDays: days });
      const { instanceId } = await ended(world);
      const delivery = { id: uuidV7(), attempt: 1, event: 'session.ended', url: 'u', status: 204 } as const;
      await world.outbox.advance(instanceId, (outbox) => ({
        outbox,
        nextAtMs: Date.parse(BEGIN),
        delivery: { ...delivery, durationMs: 1, error: null, at: BEGIN, body: '{}', answer: null },
        result: undefined,
      }));
      expect(await expire('deliveries', after * DAY_MS - 1)).toBe(0);
      expect(await expire('deliveries', after * DAY_MS)).toBe(1);
    },
  );

  test.each<[RetentionDaysPatch]>([[{ deliveries: null }], [{ recordings: null, traces: null }], [{}]])(
    'keeps what is null, and what goes with its session: %j',
    async (retentionDays) => {
      const world = await sessionWorld(opened.database, { historyRetentionDays: null, retentionDays });
      await recordedCall(world);
      for (const what of ['sessions', 'deliveries', 'recordings', 'traces'] as const)
        expect(await expire(what, 10_000 * DAY_MS)).toBe(0);
    },
  );

  const recordedCall = async (world: SessionWorld) => {
    const recording = { status: 'ready', key: 'one.wav', durationMs: 1, error: null } as const;
    const over = { status: 'completed', answeredAt: BEGIN, endedAt: BEGIN, recording } as const;
    const { call, session, started } = makeCall(world, over);
    await world.stores.calls.insert(call, session, started);
    const message = { at: BEGIN, direction: 'in', transport: 'udp', remote: 'a', text: 'INVITE' } as const;
    await world.stores.sipTraces.append(world.projectId, call.id, [message]);
    return call;
  };

  test('of recordings leaves the call, and the file to be removed', async () => {
    const world = await sessionWorld(opened.database, { retentionDays: { recordings: 3 } });
    const { id } = await recordedCall(world);
    await world.stores.calls.savePeaks(id, 'one.wav', { intervalMs: 20, caller: '', agent: '' });
    expect(await expire('recordings', 3 * DAY_MS - 1)).toBe(0);
    expect(await world.stores.calls.peaks(world.projectId, id)).toBeDefined();
    expect(await expire('recordings', 3 * DAY_MS)).toBe(1);
    expect(await world.stores.calls.peaks(world.projectId, id)).toBeUndefined();
    expect(await world.stores.calls.find(world.projectId, id)).toMatchObject({ recording: null });
    expect(await world.stores.recordingRemovals.due(10)).toEqual(['one.wav']);
    await world.stores.recordingRemovals.done('one.wav');
    expect(await expire('recordings', 4 * DAY_MS)).toBe(0);
  });

  test.each([
    ['a recording', 'recordingRemovals', 'recording_removals (key, since)'],
    ['an upload', 'fileRemovals', 'file_removals (file_key, at)'],
  ] as const)('of the removal of %s is 90 days, for a node that was away', async (_what, kind, columns) => {
    await opened.database.query(`INSERT INTO ${columns} VALUES ('away.wav', '${BEGIN}')`);
    expect(await expire(kind, 90 * DAY_MS - 1)).toBe(0);
    expect(await expire(kind, 90 * DAY_MS)).toBe(1);
  });

  test('of contacts ends with their campaign, some rows at a time', async () => {
    const { projectId } = await sessionWorld(opened.database);
    await opened.database.query(
      `WITH added AS (
         INSERT INTO campaigns (id, project_id, name, status, settings, created_at)
         SELECT gen_random_uuid(), $1, 'c', 'draft', '{}', now() FROM generate_series(1, 2) RETURNING id
       )
       INSERT INTO campaign_contacts (id, campaign_id, project_id, to_number, variables, zones, priority, status)
       SELECT gen_random_uuid(), id, $1, n::text, '{}', 'UTC', 0, 'pending' FROM added, generate_series(1, 45) AS n`,
      [projectId],
    );
    const now = () => new Date(Date.now() + DAY_MS);
    expect(await removeExpired(opened.database, 'contacts', now())).toBe(0);
    await opened.database.query('DELETE FROM campaigns WHERE id IN (SELECT id FROM campaigns LIMIT 1)');
    expect(await count('campaign_contacts')).toBe(90);
    expect(await removeExpired(opened.database, 'contacts', now())).toBe(45);
    await opened.database.query('DELETE FROM projects');
    expect(await removeExpired(opened.database, 'contacts', now())).toBe(45);
    await removeExpired(opened.database, 'contacts', now());
    expect(await count('campaign_removals')).toBe(0);
  });

  test('of a test’s call is that of test runs, for its recording too', async () => {
    const retentionDays = { recordings: 1, tests: 5 };
    const world = await sessionWorld(opened.database, { historyRetentionDays: 1, retentionDays });
    const { id } = await recordedCall(world);
    await opened.database.query('UPDATE calls SET is_test = true');
    const over = `is_test = true, status = 'ended', ended_at = '${BEGIN}'`;
    await opened.database.query(`UPDATE session_history SET ${over}`);
    expect(await expire('recordings', 4 * DAY_MS)).toBe(0);
    expect(await expire('sessions', 4 * DAY_MS)).toBe(0);
    expect(await expire('testSessions', 5 * DAY_MS - 1)).toBe(0);
    expect(await expire('testSessions', 5 * DAY_MS)).toBe(1);
    expect(await world.stores.calls.find(world.projectId, id)).toBeUndefined();
    expect(await world.stores.recordingRemovals.due(10)).toEqual(['one.wav']);
    await world.stores.recordingRemovals.done('one.wav');
  });

  test('of traces leaves the call', async () => {
    const world = await sessionWorld(opened.database, { retentionDays: { traces: 2 } });
    const { id } = await recordedCall(world);
    expect(await expire('traces', 2 * DAY_MS - 1)).toBe(0);
    expect(await world.stores.sipTraces.list(world.projectId, id)).toHaveLength(1);
    expect(await expire('traces', 2 * DAY_MS)).toBe(1);
    expect(await world.stores.sipTraces.list(world.projectId, id)).toEqual([]);
    expect(await world.stores.calls.find(world.projectId, id)).toBeDefined();
    expect(await expire('traces', 3 * DAY_MS)).toBe(0);
  });

  test('of usage is 400 days, of customers’ memory a year without a session', async () => {
    const { projectId, stores, start } = await sessionWorld(opened.database);
    await stores.usage.add([{ projectId, day: BEGIN.slice(0, 10), kind: 'calls', amount: 1 }]);
    await stores.legacyUsage.add([{ projectId, day: BEGIN.slice(0, 10), route: 'r', requests: 1 }]);
    for (const what of ['usage', 'legacyUsage'] as const) {
      expect(await expire(what, 399 * DAY_MS)).toBe(0);
      expect(await expire(what, 400 * DAY_MS)).toBe(1);
    }
    await stores.memory.keep(projectId, 'id:7', 'likes tea', (await start()).instanceId);
    const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
    expect(await removeExpired(opened.database, 'memories', inDays(364))).toBe(0);
    expect(await removeExpired(opened.database, 'memories', inDays(366))).toBe(1);
  });

  test('reads an index where nothing is to be removed', async () => {
    const { projectId } = await sessionWorld(opened.database);
    await opened.database.query(
      `INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at, ended_at)
       SELECT gen_random_uuid(), $1, n::text, 'chat', 'ended', $2, $2 FROM generate_series(1, 20000) AS n`,
      [projectId, BEGIN],
    );
    await opened.database.query('ANALYZE session_history');
    const plan = await opened.database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${EXPIRED.sessions}`,
      [new Date(BEGIN), 100],
    );
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('session_history_by_end');
    expect(text).not.toMatch(/Rows Removed by Filter: \d{3}/);
  });
});
