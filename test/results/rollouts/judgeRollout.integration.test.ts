import { beforeAll, beforeEach, expect, test } from 'vitest';

import { createAgent } from '../../../src/agents/agents.ts';
import { publish } from '../../../src/agents/releases/publish.ts';
import { type Rollout, rolloutInput } from '../../../src/agents/releases/rollout.ts';
import { startRollout } from '../../../src/agents/releases/rollouts.ts';
import { createSealer } from '../../../src/base/sealer.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import type { NewLiveEvent } from '../../../src/events/liveEvent.ts';
import { countNext } from '../../../src/infra/postgres/results/countSessions.ts';
import { createStorage } from '../../../src/infra/postgres/storage.ts';
import { armsOf } from '../../../src/results/rollouts/arms.ts';
import { judgeRollout } from '../../../src/results/rollouts/judgeRollout.ts';
import { useDatabase } from '../../infra/postgres/support/databases.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const AT = '2026-01-01T00:00:00.000Z';
const EDIT = { author: { kind: 'admin' }, at: AT };

const opened = useDatabase();
let storage: ReturnType<typeof createStorage>;
let projectId: string;
let told: NewLiveEvent[];
beforeAll(() => {
  storage = createStorage(opened.database, createSealer(Buffer.alloc(32)));
});
beforeEach(async () => {
  told = [];
  projectId = uuidV7();
  const settings = { sessionIdleMinutes: 5, historyRetentionDays: 30, reportUsage: true };
  await storage.stores.projects.insert({
    id: projectId,
    name: 'p',
    ...settings,
    createdAt: AT,
    updatedAt: AT,
  });
  await createAgent(
    storage.stores,
    { makeId: uuidV7 },
    { id: projectId, name: 'p', createdAt: AT },
    { kind: 'admin' },
  );
  for (const live of [true, false])
    await storage.transaction((stores) => publish(stores, projectId, EDIT, { note: null, live }));
});

const start = (input: object) =>
  storage.transaction((stores) =>
    startRollout(stores, projectId, uuidV7(), rolloutInput.parse({ release: 2, percent: 50, ...input }), AT),
  );
const countAll = async () => {
  while ((await countNext(opened.database)) > 0);
};
const judge = async ({ id }: Rollout) => {
  await countAll();
  return await judgeRollout(
    {
      ...storage,
      liveEvents: { publish: (event) => told.push(event) },
      clock: createSimulatedClock(Date.parse(AT)),
    },
    { id, projectId },
  );
};
const stateOf = async ({ id }: Rollout) => {
  const found = await storage.stores.rollouts.find(projectId, id);
  const { live } = (await storage.stores.agents.find(projectId)) ?? {};
  return { status: found?.status, decision: found?.decision, live };
};

/** Ended sessions of a release. @param more - Columns of the n-th one, as SQL with `n`. */
const sessions = async (
  release: number,
  count: number,
  { success = 'null', seconds = '60', evaluation = 'null', cost = 'null', isTest = 'false' } = {},
) =>
  opened.database.query(
    `INSERT INTO session_history (instance_id, project_id, session_id, channel, release, status, started_at, ended_at,
       success, evaluation, cost, is_test, to_count)
     SELECT gen_random_uuid(), $1, 's' || random(), 'chat', $2::integer, 'ended', $4::timestamptz,
       $4::timestamptz + make_interval(secs => ${seconds}), ${success}, ${evaluation}::json, ${cost}::json, ${isTest}, NOT ${isTest}
     FROM generate_series(1, $3::integer) AS n`,
    [projectId, release, count, AT],
  );
const event = (release: number, type: string, data: object, each: number) =>
  opened.database.query(
    `WITH changed AS (UPDATE session_history SET to_count = true WHERE project_id = $1 AND NOT is_test)
     INSERT INTO session_events (instance_id, type, at, data)
     SELECT instance_id, $3, started_at, $4::json FROM (
       SELECT *, row_number() OVER () AS n FROM session_history WHERE project_id = $1 AND release = $2
     ) AS numbered WHERE n % $5 = 0`,
    [projectId, release, type, JSON.stringify(data), each],
  );

test('A guard that fires rolls back, with the figures that decided, and is told once', async () => {
  const rollout = await start({
    guards: [
      { metric: 'success', maxDrop: 0.05 },
      { metric: 'duration', max: 90_000 },
    ],
  });
  expect(await judge(rollout)).toEqual({ afterMs: expect.any(Number) });
  expect(told.map(({ type }) => type)).toEqual(['rollout.started']);
  await sessions(1, 300, { success: 'n % 10 <> 0' });
  await sessions(2, 300, { success: 'n % 10 > 3' });
  await sessions(2, 500, { success: 'true', isTest: 'true' });

  expect(await judge(rollout)).toBeUndefined();

  const figures = [
    {
      metric: 'success',
      maxDrop: 0.05,
      old: { value: 0.9, low: expect.any(Number), high: expect.any(Number), n: 300 },
      new: { value: 0.6, low: expect.any(Number), high: expect.any(Number), n: 300 },
    },
  ];
  expect(await stateOf(rollout)).toEqual({
    status: 'rolled_back',
    decision: { at: AT, reason: 'guard', figures },
    live: 1,
  });
  await judge(rollout);
  expect(told).toMatchObject([
    { type: 'rollout.started', data: { verdict: null, figures: [] } },
    { type: 'rollout.rolled_back', data: { rolloutId: rollout.id, release: 2, verdict: 'bad', figures } },
  ]);
});

test('A release without a fired guard is promoted after its sessions, and the next session gets it', async () => {
  const rollout = await start({
    guards: [{ metric: 'evaluation', maxDrop: 0.1 }],
    decideAfter: { sessions: 40 },
    onGood: 'promote',
  });
  const passed = { evaluation: `'{"criteria":[{"name":"a","passed":true},{"name":"b","score":1}]}'` };
  await sessions(1, 40, passed);
  await sessions(2, 39, passed);
  await judge(rollout);
  expect((await stateOf(rollout)).status).toBe('running');
  await sessions(2, 1, passed);
  await judge(rollout);

  expect(await stateOf(rollout)).toMatchObject({
    status: 'promoted',
    decision: { reason: 'enough_sessions', figures: [{ metric: 'evaluation', new: { value: 1, n: 40 } }] },
    live: 2,
  });
  expect((await storage.stores.agents.find(projectId))?.config.status).toBe('draft');
  expect(told.at(-1)).toMatchObject({ type: 'rollout.promoted', data: { verdict: 'good' } });
});

test('With alert the rollout goes on, and a good one may still turn out bad', async () => {
  const guards = [{ metric: 'error', maxDrop: 0.01 }];
  const rollout = await start({ guards, decideAfter: { sessions: 30 }, onBad: 'alert' });
  await sessions(1, 200);
  await sessions(2, 200);
  await judge(rollout);
  await event(2, 'error', { code: 'model_unavailable' }, 3);
  await judge(rollout);
  await judge(rollout);

  expect(await stateOf(rollout)).toMatchObject({ status: 'running', decision: { reason: 'guard' }, live: 1 });
  expect(told.map(({ type, data }) => [type, 'verdict' in data && data.verdict])).toEqual([
    ['rollout.started', null],
    ['rollout.alert', 'good'],
    ['rollout.alert', 'bad'],
  ]);
});

test('The figures of an arm are those of its sessions, turns, tools and calls', async () => {
  const rollout = await start({
    guards: [
      { metric: 'latencyP95', maxDrop: 200 },
      { metric: 'toolFailures', max: 0.1 },
    ],
  });
  await sessions(1, 100, { seconds: '30' });
  await sessions(2, 100, { seconds: 'n', cost: `'{"total":0.25}'` });
  await event(2, 'tool_result', { ok: true }, 1);
  await event(2, 'tool_result', { ok: false }, 2);
  await event(2, 'barge_in', {}, 4);
  await event(2, 'transfer', { status: 'joined' }, 5);
  const turn = (release: number, latency: string) =>
    opened.database.query(
      `INSERT INTO session_messages (instance_id, project_id, message, latency_ms)
       SELECT instance_id, $1, '{}', ${latency} FROM (
         SELECT *, row_number() OVER () AS n FROM session_history WHERE project_id = $1 AND release = $2
       ) AS numbered`,
      [projectId, release],
    );
  await turn(1, '500 + n');
  await turn(2, '500 + n * 10');

  await countAll();
  const [old, changed] = armsOf(rollout, await storage.insights.arms(rollout.id));

  expect(old).toMatchObject({ release: 1, sessions: 100, metrics: { duration: { value: 30_000, n: 100 } } });
  expect(changed).toMatchObject({
    release: 2,
    sessions: 100,
    metrics: {
      duration: { value: 50_500 },
      toolFailures: { value: 50 / 150, n: 100 },
      interruptions: { value: 0.25 },
      transfers: { value: 0.2 },
      cost: { value: 0.25 },
      // Turns of one bucket count as spread evenly over it.
      latencyP95: { value: expect.closeTo(1_450.5, -2), n: 100 },
    },
  });
  expect(changed?.metrics.answered).toEqual({ value: null, low: null, high: null, n: 0 });
  await judge(rollout);
  expect((await stateOf(rollout)).decision?.figures.map(({ metric }) => metric)).toEqual([
    'latencyP95',
    'toolFailures',
  ]);
});
