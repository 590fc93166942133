import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import {
  type Migration,
  type MigrationWait,
  migrate,
  OUTSIDE_TRANSACTION,
} from '../../../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import { createTestDatabase } from '../../../support/postgres.ts';

const LONGEST_WAIT_MS = 3_000;
/** Between the visits of a table: some of them begin while a migration waits for it. */
const VISIT_MS = 200;

async function openServer(options: { readonly statementTimeoutMs?: number } = {}) {
  const { url, drop } = await createTestDatabase();
  const database = openPostgres({ url, onIdleError: () => undefined, ...options });
  onTestFinished(async () => {
    await database.close();
    await drop();
  });
  return { url, database };
}

/** A transaction that has read from each table and stays open. */
async function openReader(url: string, tables: readonly string[]) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('BEGIN');
  for (const table of tables) await client.query(`SELECT FROM ${table} LIMIT 1`);
  return { close: () => client.end() };
}

/** Reads from and writes to each table until it is stopped. @returns Stops, and gives the longest wait. */
function startTraffic(database: Database, tables: readonly string[]) {
  let isStopped = false;
  let longestMs = 0;
  const visit = async (sql: string) => {
    while (!isStopped) {
      const startMs = performance.now();
      await database.query(sql);
      longestMs = Math.max(longestMs, performance.now() - startMs);
      await new Promise((resolve) => setTimeout(resolve, VISIT_MS));
    }
  };
  const running = tables.map((table) =>
    visit(`WITH write AS (DELETE FROM ${table} WHERE false) SELECT FROM ${table} LIMIT 1`),
  );
  return async () => {
    isStopped = true;
    await Promise.all(running);
    return longestMs;
  };
}

const slow = (version: number, sql: string): Migration => ({
  version,
  name: `slow_${version}`,
  sql,
  checksum: sql,
});

test('No request waits long for a migration that waits for a reader', async () => {
  const { url, database } = await openServer();
  const migrations = [
    slow(1, 'CREATE TABLE made (id int); CREATE TABLE other (id int);'),
    slow(2, 'ALTER TABLE made ADD COLUMN a int; ALTER TABLE other ADD COLUMN a int;'),
  ];
  await migrate(database, migrations.slice(0, 1));
  const reader = await openReader(url, ['made', 'other']);
  const stopTraffic = startTraffic(database, ['made', 'other']);
  const waits: MigrationWait[] = [];
  const done = await migrate(database, migrations, {
    onWait(what) {
      waits.push(what);
      void reader.close();
    },
  });
  expect(done).toEqual(['slow_2']);
  expect(waits).toEqual(['a lock']);
  expect(await stopTraffic()).toBeLessThan(LONGEST_WAIT_MS);
});

test('A migration outlives the timeouts of queries, and other nodes wait for it and say so', async () => {
  const { url, database } = await openServer({ statementTimeoutMs: 500 });
  const other = openPostgres({ url, onIdleError: () => undefined, statementTimeoutMs: 500 });
  onTestFinished(() => other.close());
  const migrations = [slow(1, 'SELECT pg_sleep(4); CREATE TABLE made (id int);')];
  const waits: MigrationWait[] = [];
  const first = migrate(database, migrations, {
    onMigrate: () => {
      second = migrate(other, migrations, { onWait: (what) => waits.push(what) });
    },
  });
  let second: Promise<string[]> | undefined;
  expect(await first).toEqual(['slow_1']);
  expect(await second).toEqual([]);
  expect(waits).toEqual(['another node']);
});

test('An index is built beside writers, and built anew after a start that died', async () => {
  const { url, database } = await openServer();
  await migrate(database, [slow(1, 'CREATE TABLE made (id int);')]);
  const index = slow(
    2,
    `${OUTSIDE_TRANSACTION}\nDROP INDEX CONCURRENTLY IF EXISTS made_by_id;\nCREATE INDEX CONCURRENTLY made_by_id ON made (id);\n`,
  );
  // Concurrent builds wait for writers that began before, and do not block later ones.
  const writer = new pg.Client({ connectionString: url });
  await writer.connect();
  await writer.query('BEGIN');
  await writer.query('INSERT INTO made VALUES (1)');
  const building = migrate(database, [slow(1, 'CREATE TABLE made (id int);'), index]);
  await database.query('INSERT INTO made VALUES (2)');
  await writer.query('COMMIT');
  await writer.end();
  expect(await building).toEqual(['slow_2']);
  const [row] = await database.query(
    `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'made_by_id'::regclass`,
  );
  expect(row).toEqual({ valid: true });

  await database.query('DELETE FROM schema_migrations WHERE version = 2');
  expect(await migrate(database, [slow(1, 'CREATE TABLE made (id int);'), index])).toEqual(['slow_2']);
});
