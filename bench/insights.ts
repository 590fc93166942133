/**
 * The time of the questions that the insights answer, over the sessions of 30 days.
 *
 *   npm run bench:insights [-- --sessions 1000000 --runs 3]
 *
 * Runs on a Postgres server of its own. The sessions' sums are made by the product's code, a day at a time, without their
 * rows; how fast the product counts sessions that have ended is measured by itself, on sessions with rows. A metric of each
 * kind, the others read the same rows, is asked with every grouping and interval, over all 30 days, without and with a
 * filter; the table has the median of each question's runs. Beside them stands a bare count of the rows, for the machine's load.
 */

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { createSealer } from '../src/base/sealer.ts';
import { DAY_MS } from '../src/base/values/clock.ts';
import { uuidV7 } from '../src/base/values/ids.ts';
import { table } from '../src/cli/table.ts';
import type { SessionFilter } from '../src/engine/history/sessionFilter.ts';
import type { Database } from '../src/infra/postgres/connection/database.ts';
import { migrate, readMigrations } from '../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../src/infra/postgres/connection/postgres.ts';
import { addChanges, countNext } from '../src/infra/postgres/results/countSessions.ts';
import { createStorage } from '../src/infra/postgres/storage.ts';
import type { Interval } from '../src/results/insights/insightStore.ts';
import { type MetricName, readFunnel, readInsights } from '../src/results/insights/readInsights.ts';
import { rollupChanges } from '../src/results/insights/rollups.ts';
import { DIMENSIONS } from '../src/results/insights/sessionFacts.ts';
import { seedSessions } from '../test/infra/postgres/support/seededSessions.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { randomFrom, sessionsOfDay } from './insights/sessions.ts';
import { median } from './support/statistics.ts';

const AIM_MS = 300;
const DAYS = 30;
const BEGAN_MS = Date.UTC(2026, 0, 1);
/** Not at the beginning of an hour or a day, as when the last 30 days are asked for. */
const FROM = new Date(BEGAN_MS + 9.4 * 3_600_000).toISOString();
const TO = new Date(BEGAN_MS + DAYS * DAY_MS + 9.4 * 3_600_000).toISOString();
const COUNTED_WITH_ROWS = 10_000;
const STATEMENT_TIMEOUT_MS = 900_000;
const INTERVALS: readonly Interval[] = ['hour', 'day', 'week'];
const FILTERS: readonly (readonly [what: string, filter: SessionFilter])[] = [
  ['none', {}],
  ['success=true, channel=phone', { success: 'true', channel: 'phone' }],
];
const METRICS: readonly MetricName[] = ['sessions', 'evaluation', 'latency', 'latencyP95'];
const GROUPS = [undefined, ...DIMENSIONS];

const { values: options } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '3' },
  },
});

const postgres = await startPostgres();
const database = openPostgres({
  url: postgres.url,
  onIdleError: (error) => console.error(error.message),
  statementTimeoutMs: STATEMENT_TIMEOUT_MS,
});
try {
  await migrate(database, await readMigrations(fileURLToPath(new URL('../migrations/', import.meta.url))));
  const { insights } = createStorage(database, createSealer(Buffer.alloc(32, 1)));
  console.log(await countingSpeed(database));
  const projectId = await fill(database, Number(options.sessions));
  const [sizes] = await database.query<{ mib: number; rows: number; combinations: number }>(
    `SELECT (SELECT sum(pg_total_relation_size(oid)) / 1048576 FROM pg_class WHERE relname LIKE 'insight\\_%' AND relkind = 'r')::float8 AS mib,
       (SELECT count(*) FROM insight_sessions)::integer AS rows,
       (SELECT count(*) FROM insight_dimensions)::integer AS combinations`,
  );
  console.log(
    `${options.sessions} sessions of ${DAYS} days: ${sizes?.rows} rows of sums by ${sizes?.combinations} combinations, ${sizes?.mib.toFixed(0)} MiB in all.`,
  );
  const bareMs = await medianTime(() => database.query('SELECT count(*) FROM insight_sessions'));
  console.log(`A bare SELECT count(*) of the rows of sums takes ${bareMs.toFixed(0)} ms.`);
  const rows: string[][] = [];
  for (const metric of METRICS)
    for (const interval of INTERVALS)
      for (const [what, filter] of FILTERS) {
        const times: (readonly [name: string, ms: number])[] = [];
        for (const groupBy of GROUPS) {
          const ask = () =>
            readInsights(insights, projectId, {
              metric,
              groupBy,
              interval,
              from: FROM,
              to: TO,
              filter,
            });
          times.push([groupBy ?? 'nothing', await medianTime(ask)]);
        }
        rows.push(summary(metric, interval, what, times));
      }
  for (const [what, filter] of FILTERS) {
    const ask = () => readFunnel(insights, projectId, { from: FROM, to: TO, filter });
    rows.push(summary('funnel', '', what, [['nothing', await medianTime(ask)]]));
  }
  console.log(
    table([['metric', 'interval', 'filter', 'median of all ms', 'slowest ms', 'grouped by', ''], ...rows]),
  );
} finally {
  await database.close();
  await postgres.close();
}

function summary(
  metric: string,
  interval: string,
  filter: string,
  times: readonly (readonly [name: string, ms: number])[],
): string[] {
  const [slowest = ['', 0] as const] = [...times].sort(([, a], [, b]) => b - a);
  const middle = median(times.map(([, ms]) => ms)).toFixed(0);
  const verdict = slowest[1] > AIM_MS ? 'too long' : '';
  return [metric, interval, filter, middle, slowest[1].toFixed(0), slowest[0], verdict];
}

async function medianTime(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let run = -1; run < Number(options.runs); run += 1) {
    const began = performance.now();
    await work();
    // The first run reads what is not in memory yet.
    if (run >= 0) times.push(performance.now() - began);
  }
  return median(times);
}

async function insertProject(to: Database): Promise<string> {
  const projectId = uuidV7();
  await to.query(
    `INSERT INTO projects (id, name, report_usage, created_at, updated_at) VALUES ($1, 'bench', false, now(), now())`,
    [projectId],
  );
  return projectId;
}

async function fill(to: Database, sessions: number): Promise<string> {
  const projectId = await insertProject(to);
  const random = randomFrom(7);
  for (let day = 0; day < DAYS; day += 1) {
    const counted = sessionsOfDay(day, BEGAN_MS + day * DAY_MS, Math.round(sessions / DAYS), random);
    const recounts = counted.map((now) => ({ projectId, before: null, now }));
    await addChanges(to, rollupChanges(recounts));
  }
  await to.query(
    'VACUUM ANALYZE insight_sessions, insight_latencies, insight_outcome_latencies, insight_nodes, insight_edges, insight_dimensions',
  );
  return projectId;
}

async function countingSpeed(on: Database): Promise<string> {
  const projectId = await insertProject(on);
  await seedSessions(on, projectId, COUNTED_WITH_ROWS);
  const began = performance.now();
  while ((await countNext(on)) > 0);
  const seconds = (performance.now() - began) / 1000;
  await on.query('DELETE FROM projects WHERE id = $1', [projectId]);
  return `${COUNTED_WITH_ROWS} ended sessions were counted in ${seconds.toFixed(1)} s: ${(COUNTED_WITH_ROWS / seconds).toFixed(0)} a second.`;
}
