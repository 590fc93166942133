import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { createSealer } from '../../../../src/base/sealer.ts';
import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import { migrate, readMigrations } from '../../../../src/infra/postgres/connection/migrate.ts';
import { createStorage } from '../../../../src/infra/postgres/storage.ts';
import { databases, MIGRATIONS, OPEN_TIMEOUT_MS, openServerDatabase } from '../support/databases.ts';

const PROJECT = '0197a000-0000-7000-8000-000000000001';
const KEY = '0197a000-0000-7000-8000-000000000002';
const PATHWAY = '0197a000-0000-7000-8000-000000000003';
const TOOL = '0197a000-0000-7000-8000-000000000004';
const CASE = '0197a000-0000-7000-8000-000000000005';
const SUITE = '0197a000-0000-7000-8000-000000000006';
const AT = '2026-01-01T00:00:00.000Z';
const sealer = createSealer(Buffer.alloc(32, 7));
const GRAPH = {
  nodes: [
    {
      id: 'start',
      type: 'start',
      position: { x: 0, y: 0 },
      data: { title: 'Hello', prompt: 'Greet.', tools: [] },
    },
  ],
  edges: [],
};

/** What a node of the first release reads and writes. */
async function firstReleaseAtWork(database: Database): Promise<void> {
  const run = (sql: string, parameters: readonly (string | number | boolean | null)[]) =>
    database.query(sql, parameters);
  await run(
    `INSERT INTO projects (id, name, session_idle_minutes, history_retention_days, report_usage, created_at, updated_at)
     VALUES ($1, 'Old', 30, 30, false, $2, $2)`,
    [PROJECT, AT],
  );
  await run(
    `INSERT INTO api_keys (id, project_id, name, kind, digest, hint, scopes, created_at)
     VALUES ($1, $2, 'CRM', 'secret', 'digest-of-it', 'sk_…abcd', '{read,write,calls}', $3)`,
    [KEY, PROJECT, AT],
  );
  await run(`INSERT INTO agents (project_id, config, frozen, updated_at) VALUES ($1, $2, NULL, now())`, [
    PROJECT,
    JSON.stringify({
      name: 'Mia',
      type: 'skill',
      status: 'draft',
      postSessionWebhook: null,
      beforeStartConfig: null,
    }),
  ]);
  await run(`INSERT INTO pathways (id, project_id, version, graph, updated_at) VALUES ($1, $2, 1, $3, $4)`, [
    PATHWAY,
    PROJECT,
    JSON.stringify(GRAPH),
    AT,
  ]);
  await run(
    `INSERT INTO pathway_versions (project_id, version, graph, author, created_at) VALUES ($1, 1, $2, '{"kind":"admin"}', $3)`,
    [PROJECT, JSON.stringify(GRAPH), AT],
  );
  const headers = [{ key: 'x-key', value: sealer.seal('secret of the tool') }];
  const http = { method: 'GET', url: 'https://example.com/', headers, timeoutMs: 100 };
  await run(
    `INSERT INTO tools (project_id, id, name, description, parameters, http, created_at, updated_at)
     VALUES ($1, $2, 'find', '', '{}', $3, $4, $4)`,
    [PROJECT, TOOL, JSON.stringify(http), AT],
  );
  await run(
    `INSERT INTO test_cases (id, project_id, definition, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)`,
    [CASE, PROJECT, JSON.stringify({ name: 'c', channel: 'chat' }), AT],
  );
  await run(
    `INSERT INTO test_suites (id, project_id, name, created_at, updated_at) VALUES ($1, $2, 's', $3, $3)`,
    [SUITE, PROJECT, AT],
  );
  await run(`INSERT INTO test_suite_cases VALUES ($1, $2, 0)`, [SUITE, CASE]);
  await run(
    `INSERT INTO idempotency_keys (scope, key, fingerprint, status, body, created_at) VALUES ($1, 'k', 'f', 201, '{}', $2)`,
    [PROJECT, AT],
  );
  await run(`INSERT INTO legacy_usage VALUES ($1, '/project', '2026-01-01', 3)`, [PROJECT]);
  await run(`INSERT INTO installation VALUES ('secrets_key_fingerprint', $1)`, [sealer.fingerprint]);
  await run(
    `UPDATE projects SET name = coalesce($2, name), report_usage = coalesce($3, report_usage) WHERE id = $1`,
    [PROJECT, 'Older', true],
  );
}

async function firstReleaseReads(database: Database) {
  const [project] = await database.query<{ name: string; report_usage: boolean }>(
    `SELECT id, name, session_idle_minutes, history_retention_days, report_usage, created_at, updated_at
     FROM projects WHERE id = $1`,
    [PROJECT],
  );
  const [key] = await database.query<{ hint: string }>(
    `SELECT id, kind, hint, project_id, scopes FROM api_keys WHERE digest = $1`,
    ['digest-of-it'],
  );
  return { project, key };
}

describe.each(databases)('An upgrade on the $name database', { timeout: OPEN_TIMEOUT_MS }, ({ open }) => {
  test('from the first release keeps all data, and that release keeps working', async () => {
    const { database, close } = await open();
    onTestFinished(close);
    const migrations = await readMigrations(MIGRATIONS);
    await migrate(database, migrations.slice(0, 1));
    await firstReleaseAtWork(database);

    await migrate(database, migrations);

    const { stores } = createStorage(database, sealer);
    expect(await stores.projects.find(PROJECT)).toMatchObject({ name: 'Older', reportUsage: true });
    expect(await stores.apiKeys.findByDigest('digest-of-it')).toMatchObject({
      keyId: KEY,
      projectId: PROJECT,
    });
    expect((await stores.agents.find(PROJECT))?.config).toMatchObject({ name: 'Mia', type: 'skill' });
    expect(await stores.tools.find(PROJECT, TOOL)).toMatchObject({
      http: { headers: [{ key: 'x-key', value: 'secret of the tool' }] },
    });
    const page = { limit: 9, offset: 0 };
    expect((await stores.testSuites.list(PROJECT, page)).items).toMatchObject([{ name: 's' }]);
    expect(await stores.legacyUsage.since(PROJECT, '2026-01-01')).toMatchObject([{ requests: 3 }]);
    expect(await firstReleaseReads(database)).toMatchObject({
      project: { name: 'Older', report_usage: true },
      key: { hint: 'sk_…abcd' },
    });
  });

  test('lets a node of the first release continue to write', async () => {
    const { database, close } = await open('newest');
    onTestFinished(close);
    await firstReleaseAtWork(database);
    expect(await firstReleaseReads(database)).toMatchObject({ project: { name: 'Older' } });
    const { stores } = createStorage(database, sealer);
    expect((await stores.projects.find(PROJECT))?.callLimits.blockedPrefixes).toEqual([]);
  });
});

interface Column {
  readonly name: string;
  readonly type: string;
  readonly is_nullable: string;
  readonly has_default: boolean;
}

async function columnsOf(database: Database): Promise<Map<string, Column>> {
  const columns = await database.query<Column>(
    `SELECT table_name || '.' || column_name AS name, udt_name AS type, is_nullable,
            column_default IS NOT NULL OR is_identity = 'YES' AS has_default
     FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  return new Map(columns.map((column) => [column.name, column]));
}

test('Every schema on the way keeps the columns of the previous one and requires no new ones', async () => {
  const { database, close } = await openServerDatabase();
  onTestFinished(close);
  const migrations = await readMigrations(MIGRATIONS);
  let before = new Map<string, Column>();
  for (const [index, { name, sql }] of migrations.entries()) {
    await migrate(database, migrations.slice(0, index + 1));
    const after = await columnsOf(database);
    const tables = new Set([...before.keys()].map((column) => column.split('.')[0]));
    for (const [column, { type, is_nullable }] of before) {
      if (isContract(sql)) continue;
      expect([name, column, after.get(column)?.type]).toEqual([name, column, type]);
      expect([name, column, after.get(column)?.is_nullable]).toEqual([name, column, is_nullable]);
    }
    for (const [column, { is_nullable, has_default }] of after) {
      if (before.has(column) || !tables.has(column.split('.')[0])) continue;
      expect([name, column, is_nullable === 'YES' || has_default]).toEqual([name, column, true]);
    }
    before = after;
  }
});

/** What would break a node of the previous release, which runs during a rolling upgrade. */
const BREAKING =
  /\b(DROP\s+(TABLE|COLUMN|TYPE|VIEW|FUNCTION|SCHEMA|EXTENSION)|TRUNCATE|DELETE\s+FROM|RENAME\b|ALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE|SET\s+NOT\s+NULL)\b/i;
/** A migration that removes something names the release since which it is unused. */
const CONTRACT = /^-- contract: unused since \d+\.\d+\.\d+$/m;
const isContract = (sql: string) => CONTRACT.test(sql);
/** Function bodies run when they are called, not when they are created. */
const statementsOf = (sql: string) => sql.replace(/\$\$.*?\$\$/gs, '').replace(/--.*$/gm, '');

describe('a migration', () => {
  test.each(readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql')))(
    '%s removes nothing, or names the release since which it is unused',
    (file) => {
      const sql = readFileSync(join(MIGRATIONS, file), 'utf8');
      const breaking = isContract(sql) ? undefined : BREAKING.exec(statementsOf(sql))?.[0];
      expect(breaking).toBeUndefined();
    },
  );

  test.each([
    ['ALTER TABLE a DROP COLUMN b;', true],
    ['DROP TABLE a;', true],
    ['ALTER TABLE a RENAME TO b;', true],
    ['ALTER TABLE a ALTER COLUMN b TYPE text;', true],
    ['ALTER TABLE a ALTER COLUMN b SET NOT NULL;', true],
    ['DELETE FROM a;', true],
    ['-- contract: unused since 1.2.0\nDROP TABLE a;', false],
    ['-- contract: tidy\nDROP TABLE a;', true],
    ['ALTER TABLE a ADD COLUMN b text;', false],
    ['CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN DELETE FROM a; END $$ LANGUAGE plpgsql;', false],
    ['CREATE TABLE b (a_id uuid REFERENCES a ON DELETE CASCADE);', false],
  ])('is judged by its statements: %s', (sql, isBreaking) => {
    expect(!isContract(sql) && BREAKING.test(statementsOf(sql))).toBe(isBreaking);
  });
});
