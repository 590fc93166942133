/**
 * How the claim of due webhooks and the pages of a list grow with the number of rows.
 *
 *   npm run bench:growth [-- --rows 1000,1000000 --runs 7]
 *
 * Runs on a Postgres server of its own. All sessions but one in a thousand belong to one project, whose backlog the others
 * wait behind; pages are of that project's deliveries.
 */

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createSealer } from '../src/base/sealer.ts';
import { uuidV7 } from '../src/base/values/ids.ts';
import { table } from '../src/cli/table.ts';
import { migrate, readMigrations } from '../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../src/infra/postgres/connection/postgres.ts';
import { createStorage } from '../src/infra/postgres/storage.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { median } from './support/statistics.ts';

const FILL_TIMEOUT_MS = 900_000;
const OTHERS = 100;
const PAGE = { limit: 50, offset: 0 };
const CAPACITY = { rows: 100, perProject: 10, leftByProject: new Map<string, number>() };
const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));

const { values: options } = parseArgs({
  options: { rows: { type: 'string', default: '1000,1000000' }, runs: { type: 'string', default: '7' } },
});

const server = await startPostgres();
const database = openPostgres({
  url: server.url,
  onIdleError: () => undefined,
  statementTimeoutMs: FILL_TIMEOUT_MS,
});
try {
  await migrate(database, await readMigrations(MIGRATIONS));
  const lines: string[][] = [];
  for (const rows of options.rows.split(',').map(Number)) lines.push(await measure(rows));
  const heads = ['due rows', 'claim', 'claimed', 'page 1', 'last page by offset', 'last page by cursor'];
  console.log(table([heads, ...lines]));
} finally {
  await database.close();
  await server.close();
}

async function measure(rows: number): Promise<string[]> {
  await database.query('TRUNCATE projects CASCADE');
  const [hog, ...others] = await addProjects(1 + OTHERS);
  if (hog === undefined) throw new Error('no project');
  await addSessions([hog], rows, '2 days');
  await addSessions(others, Math.max(OTHERS, Math.floor(rows / 1000)), '1 day');
  await addDeliveries(hog, rows);
  await database.query('ANALYZE');
  const { outbox, stores } = createStorage(database, createSealer(Buffer.alloc(32, 1)));
  const read = (page: object) => stores.webhookDeliveries.list(hog, {}, { ...PAGE, ...page });
  const { nextCursor } = await read({ limit: 1, offset: rows - PAGE.limit - 1 });
  const now = new Date();
  let claimed = 0;
  const claim = async () => {
    claimed = (await outbox.claimDue(now, now, CAPACITY)).claimed.length;
  };
  return [
    rows.toLocaleString('en'),
    await time(claim),
    String(claimed),
    await time(() => read({})),
    await time(() => read({ offset: rows - PAGE.limit })),
    await time(() => read({ cursor: nextCursor ?? undefined })),
  ];
}

async function time(work: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let run = 0; run < Number(options.runs); run += 1) {
    const startMs = performance.now();
    await work();
    times.push(performance.now() - startMs);
  }
  return `${median(times).toFixed(1)} ms`;
}

async function addProjects(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, uuidV7);
  await database.query(
    `WITH made AS (
       INSERT INTO projects (id, name, session_idle_minutes, history_retention_days, report_usage, created_at, updated_at)
       SELECT id, 'p', 5, 30, false, now(), now() FROM unnest($1::uuid[]) AS id RETURNING id
     )
     INSERT INTO agent_releases (project_id, id, release, kept_at) SELECT id, 'r', '{}', now() FROM made`,
    [ids],
  );
  return ids;
}

/** Ended sessions of these projects in turn, which are due since then. */
async function addSessions(projects: readonly string[], count: number, since: string): Promise<void> {
  await database.query(
    `WITH ended AS (
       INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at)
       SELECT gen_random_uuid(), ($1::uuid[])[1 + n % cardinality($1::uuid[])], 's' || n, 'chat', 'ended', now()
       FROM generate_series(1, $2::integer) AS n RETURNING instance_id, project_id
     )
     INSERT INTO webhook_outbox (instance_id, project_id, release_id, finalize_by, evaluating, next_at)
     SELECT instance_id, project_id, 'r', now(), false,
       now() - $3::interval + row_number() OVER () * interval '10 ms' FROM ended`,
    [projects, count, since],
  );
}

async function addDeliveries(projectId: string, count: number): Promise<void> {
  await database.query(
    `INSERT INTO webhook_deliveries (id, attempt, project_id, session_id, event, url, duration_ms, at)
     SELECT gen_random_uuid(), 1, $1, 's' || n, 'session.ended', 'https://example.com/', 1, now() - n * interval '1 s'
     FROM generate_series(1, $2::integer) AS n`,
    [projectId, count],
  );
}
