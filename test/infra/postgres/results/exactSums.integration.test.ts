import { expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import { countNext } from '../../../../src/infra/postgres/results/countSessions.ts';
import { removeExpired } from '../../../../src/infra/postgres/retention.ts';
import { createTestDatabase } from '../../../support/postgres.ts';
import { seedSessions } from '../support/seededSessions.ts';
import { sessionWorld } from '../support/sessions.ts';

const SESSIONS = process.env.CALLWAY_FAULTS === 'all' ? 100_000 : 1_500;
const TIMEOUT_MS = 900_000;
const RETENTION_DAYS = 30;
/** The first of ten days is removed, as far as it is counted: sessions that are not are kept for a day. */
const REMOVED_UNTIL = new Date('2026-02-01T00:00:00Z');
const CUSTOMERS = 20;

/** Counts by the rows of the sessions, as a person would who knows nothing of how they are counted. */
const RECOUNT = `
  SELECT to_char(h.started_at, 'YYYY-MM-DD') AS day, channel, count(*)::integer AS sessions,
    count(calls.id)::integer AS calls, count(answered_at)::integer AS answered,
    coalesce(sum(extract(epoch FROM calls.ended_at - answered_at) * 1000), 0)::float8 AS call_ms,
    sum(turns)::float8 AS turns, count(evaluation)::integer AS evaluated,
    count(*) FILTER (WHERE evaluation::jsonb @> '{"criteria":[{"passed":true}]}')::integer AS passed,
    sum((SELECT count(*) FROM session_events AS e WHERE e.instance_id = h.instance_id AND type = 'tool_result'))::float8 AS tools,
    sum((SELECT count(*) FROM session_events AS e WHERE e.instance_id = h.instance_id AND type = 'barge_in'))::float8
      AS interruptions,
    count(*) FILTER (WHERE EXISTS (SELECT FROM session_events AS e WHERE e.instance_id = h.instance_id AND type = 'error'))::integer
      AS errors,
    sum((SELECT count(*) FROM session_messages AS m WHERE m.instance_id = h.instance_id AND latency_ms > 0))::float8
      AS latencies,
    sum((SELECT count(*) FROM session_events AS e WHERE e.instance_id = h.instance_id AND type = 'node_entered'))::float8
      AS entered
  FROM session_history AS h LEFT JOIN calls USING (instance_id)
  WHERE h.project_id = $1 AND NOT h.is_test GROUP BY 1, 2 ORDER BY 1, 2`;

const byDay = (table: string, where: string, columns: string) => `(
  SELECT to_char(at, 'YYYY-MM-DD') AS day, value->>'channel' AS channel, ${columns}
  FROM ${table} JOIN insight_dimensions AS d ON d.project_id = ${table}.project_id AND d.id = dimensions
  WHERE ${table}.project_id = $1 AND ${where} GROUP BY 1, 2)`;

const sumsOf = (span: string) => `
  SELECT day, channel, sessions, calls, answered, call_ms, turns, evaluated, passed, tools, interruptions, errors,
    latencies, entered
  FROM ${byDay(
    'insight_sessions',
    `span = '${span}'`,
    `sum(sessions)::integer AS sessions, sum(calls)::integer AS calls, sum(answered)::integer AS answered,
     sum(call_ms)::float8 AS call_ms, sum(turns)::float8 AS turns, sum(evaluated)::integer AS evaluated,
     sum(passed)::integer AS passed, sum(tool_calls)::float8 AS tools, sum(interruptions)::float8 AS interruptions,
     sum(with_error)::integer AS errors`,
  )} AS sums
  JOIN ${byDay('insight_latencies', `span = '${span}' AND part = 'total'`, 'sum(turns)::float8 AS latencies')} AS turns USING (day, channel)
  JOIN ${byDay('insight_nodes', 'true', 'sum(entered)::float8 AS entered')} AS nodes USING (day, channel)
  ORDER BY 1, 2`;

test(`The sums equal a recount of ${SESSIONS} sessions, whose counting is killed, and which change and are deleted`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const { url, drop } = await createTestDatabase('newest');
  const open = () => openPostgres({ url, onIdleError: () => undefined, statementTimeoutMs: TIMEOUT_MS });
  const [database, counters] = [open(), open()];
  try {
    const world = await sessionWorld(database, { historyRetentionDays: RETENTION_DAYS });
    const { projectId } = world;
    await seedSessions(database, projectId, SESSIONS);
    const changes = world.stores.history;
    const ids = await database.query<{ id: string }>(
      'SELECT instance_id AS id FROM session_history WHERE NOT is_test ORDER BY md5(instance_id::text)',
    );

    const killed = await whileCounting(database, counters, async () => {
      for (const { id } of ids.slice(0, SESSIONS / 10)) {
        const criteria = [{ name: 'polite', passed: true, reason: '' }];
        await world.outbox.saveResults(id, { evaluation: { criteria } }, new Date());
        const at = new Date().toISOString();
        await changes.addEvents(id, [{ type: 'barge_in', at, data: {} }]);
      }
    });
    expect(killed).toBeGreaterThan(0);
    const truth = await database.query(RECOUNT, [projectId]);
    expect(truth.length).toBeGreaterThan(10);

    // Some are marked again, so that the deletions meet sessions that are not counted yet.
    await database.query('UPDATE session_history SET to_count = true WHERE NOT is_test AND turns < 3');
    await whileCounting(database, counters, async () => {
      for (let customer = 0; customer < CUSTOMERS; customer += 1) await erase(world, `customer ${customer}`);
      await removeExpired(database, 'sessions', REMOVED_UNTIL);
    });
    while ((await countNext(counters)) > 0);
    await removeExpired(database, 'sessions', REMOVED_UNTIL);
    const left = await database.query(RECOUNT, [projectId]);
    expect(left).not.toEqual(truth);
    expect(await database.query(sumsOf('hour'), [projectId])).toEqual(truth);
    expect(await database.query(sumsOf('day'), [projectId])).toEqual(truth);
  } finally {
    await Promise.all([database.close(), counters.close()]);
    await drop();
  }
});

/** Two nodes count meanwhile, and one of their transactions is killed again and again. @returns How many were. */
async function whileCounting(
  database: Database,
  counters: Database,
  work: () => Promise<void>,
): Promise<number> {
  let isDone = false;
  let killed = 0;
  const countOn = async () => {
    while (!isDone) await countNext(counters).catch(() => undefined);
  };
  const kill = async () => {
    while (!isDone) {
      const rows = await database.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
           AND pid <> pg_backend_pid() AND state <> 'idle' AND query LIKE '%INTO insight_%' LIMIT 1`,
      );
      killed += rows.length;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const others = [countOn(), countOn(), kill()];
  try {
    await work();
  } finally {
    isDone = true;
    await Promise.all(others);
  }
  return killed;
}

async function erase({ customers, projectId }: Awaited<ReturnType<typeof sessionWorld>>, key: string) {
  const name = { projectId, key };
  await customers.requestErasure(name, {
    id: uuidV7(),
    projectId,
    at: new Date().toISOString(),
    actor: { kind: 'operator' },
    action: 'customer.erased',
    target: 'x',
    details: {},
    requestId: null,
  });
  // A batch whose transaction is killed is taken again.
  const next = async () => {
    try {
      return (await customers.eraseNext(name))?.isLast ?? true;
    } catch {
      return false;
    }
  };
  while (!(await next()));
}
