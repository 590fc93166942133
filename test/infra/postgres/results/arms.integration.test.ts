import { expect, test } from 'vitest';

import { rates } from '../../../../src/agents/cost/rates.ts';
import { rolloutInput } from '../../../../src/agents/releases/rollout.ts';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { countNext } from '../../../../src/infra/postgres/results/countSessions.ts';
import { ArmSums } from '../../../../src/results/rollouts/armSums.ts';
import { armsOf } from '../../../../src/results/rollouts/arms.ts';
import { useDatabase } from '../support/databases.ts';
import { seedSessions } from '../support/seededSessions.ts';
import { BEGIN, later, sessionWorld } from '../support/sessions.ts';

const opened = useDatabase();

/** Half of the sessions ran on each release; what the seeds lack follows from their turns. */
const RELEASES = `
  UPDATE session_history SET release = CASE WHEN session_id ~ '[02468]$' THEN 2 ELSE 1 END,
    success = (ARRAY[true, false, NULL])[1 + turns % 3],
    cost = CASE WHEN turns % 4 > 0 THEN json_build_object('total', turns / 8.0) END
  WHERE project_id = $1`;

/** Sums by the rows of an arm's sessions, as a person would who knows nothing of how they are counted. */
const RECOUNT = `
  WITH measured AS (
    SELECT metric, x::float8 AS x, w::float8 AS w FROM session_history AS h LEFT JOIN calls USING (instance_id)
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE type = 'tool_result') AS tools,
        count(*) FILTER (WHERE type = 'tool_result' AND data->>'ok' = 'false') AS failures,
        count(*) FILTER (WHERE type = 'barge_in') AS interruptions,
        least(1, count(*) FILTER (WHERE type = 'transfer')) AS transfers, least(1, count(*) FILTER (WHERE type = 'error')) AS errors
      FROM session_events AS e WHERE e.instance_id = h.instance_id
    ) AS events
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE latency_ms > 1000) AS slow, count(*) AS timed
      FROM session_messages AS m WHERE m.instance_id = h.instance_id AND latency_ms IS NOT NULL
    ) AS said
    CROSS JOIN LATERAL (VALUES
      ('sessions', 1, 1), ('success', h.success::integer, 1), ('evaluation', (h.evaluation->'criteria'->0->>'passed')::boolean::integer, 1),
      ('answered', CASE WHEN calls.id IS NOT NULL THEN (answered_at IS NOT NULL)::integer END, 1),
      ('duration', CASE WHEN calls.id IS NULL OR answered_at IS NOT NULL
        THEN extract(epoch FROM h.ended_at - coalesce(answered_at, h.started_at)) * 1000 END, 1),
      ('toolFailures', failures, tools), ('interruptions', interruptions, 1), ('transfers', transfers, 1),
      ('cost', (h.cost->>'total')::float8, 1), ('error', errors, 1), ('slow', slow, timed)
    ) AS metrics (metric, x, w)
    WHERE h.project_id = $1 AND h.release = $2 AND h.started_at >= $3 AND NOT h.is_test AND x IS NOT NULL AND w > 0
  )
  SELECT metric, count(*)::integer AS sessions, sum(x) AS x, sum(w) AS w, sum(x * x) AS xx, sum(x * w) AS xw, sum(w * w) AS ww
  FROM measured GROUP BY metric ORDER BY metric`;

const P95 = `
  SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS ms FROM session_messages AS m JOIN session_history AS h USING (instance_id)
  WHERE h.project_id = $1 AND h.release = $2 AND h.started_at >= $3 AND NOT is_test`;

const rolloutOf = (projectId: string, startedAt: string) => ({
  ...rolloutInput.parse({ release: 2, percent: 50 }),
  id: uuidV7(),
  projectId,
  previousRelease: 1,
  status: 'running' as const,
  startedAt,
  endedAt: null,
  decision: null,
});

test('The cost of an arm is that in the currency of the rates when the rollout began, or of the first ones since', async () => {
  for (const before of [true, false]) {
    const world = await sessionWorld(opened.database);
    const { projectId, stores } = world;
    const put = (currency: string, ms: number) =>
      stores.rates.put(projectId, rates.parse({ currency }), later(ms));
    const rollout = rolloutOf(projectId, BEGIN);
    await stores.rollouts.insert(rollout);
    await put('USD', before ? -1 : 1);
    await put('TWD', 2);
    expect(await stores.rates.currencyFrom(projectId, BEGIN)).toBe('USD');
    for (const [currency, total] of [
      ['USD', 1],
      ['TWD', 30],
      ['USD', 3],
    ] as const) {
      const { instanceId } = await world.start({ release: 2 });
      await opened.database.query(
        `UPDATE session_history SET status = 'ended', ended_at = started_at, cost = $2::json WHERE instance_id = $1`,
        [instanceId, JSON.stringify({ total, currency })],
      );
    }
    await countNext(opened.database);
    const arm = new ArmSums(await world.insights.arms(rollout.id), 2);
    expect([arm.sessions, arm.of('cost')]).toEqual([3, expect.objectContaining({ sessions: 2, x: 4 })]);
  }
});

test('The figures of an arm are those of its rows, and stay when the rows are deleted', async () => {
  const world = await sessionWorld(opened.database);
  const { projectId, insights } = world;
  await seedSessions(opened.database, projectId, 800);
  await opened.database.query(RELEASES, [projectId]);
  // An earlier rollout of the same releases, within the seeds' ten days.
  const first = rolloutOf(projectId, '2026-01-02T01:00:00.000Z');
  const second = rolloutOf(projectId, '2026-01-03T07:30:00.000Z');
  await world.stores.rollouts.insert(first);
  const decision = { at: second.startedAt, reason: 'requested' as const, figures: [] };
  await world.stores.rollouts.finish(first.id, 'ended', decision);
  await world.stores.rollouts.insert(second);
  while ((await countNext(opened.database)) > 0);
  // Counted once more, after a change.
  await opened.database.query(
    `UPDATE session_history SET success = NOT success WHERE project_id = $1 AND turns = 4`,
    [projectId],
  );
  while ((await countNext(opened.database)) > 0);

  const rows = await insights.arms(second.id);
  for (const { release, sessions, metrics } of armsOf(second, rows)) {
    const place = [projectId, release, second.startedAt];
    const arm = new ArmSums(rows, release);
    const truth = await opened.database.query<{ metric: 'sessions' | 'slow'; sessions: number }>(
      RECOUNT,
      place,
    );
    expect(truth).toHaveLength(11);
    for (const { metric, ...sums } of truth)
      if (metric !== 'slow')
        expect([metric, arm.of(metric)]).toEqual([metric, expect.objectContaining(sums)]);
    const slow = truth.find(({ metric }) => metric === 'slow');
    const found = arm.slowTurns(1_000);
    expect(found).toMatchObject({ sessions: slow?.sessions });
    expect(slow).toMatchObject({ w: found?.w, ww: found?.ww });
    expect(sessions).toBeGreaterThan(250);
    const [exact] = await opened.database.query<{ ms: number }>(P95, place);
    expect((metrics.latencyP95?.value ?? 0) / (exact?.ms ?? 1)).toBeCloseTo(1, 1);
  }
  await opened.database.query('DELETE FROM session_history WHERE project_id = $1', [projectId]);
  expect(await insights.arms(second.id)).toEqual(rows);
});
