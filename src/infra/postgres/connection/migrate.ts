import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Database, Queryable } from './database.ts';

/** Key of the advisory lock that serializes the migrations of nodes. */
const MIGRATION_LOCK = 7_223_104_551;
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** Reads `0001_name.sql` and so on; the numbers must be consecutive. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return await Promise.all(
    names.map(async (name, index) => {
      const [, digits, title] = FILE_NAME.exec(name) ?? [];
      if (Number(digits) !== index + 1 || title === undefined) {
        throw new Error(
          `migration ${name} must have number ${index + 1} and a name like 0001_what_it_does.sql`,
        );
      }
      const sql = await readFile(join(folder, name), 'utf8');
      return {
        version: index + 1,
        name: title,
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
      };
    }),
  );
}

/**
 * Migrates the database to the newest schema: each migration in one transaction, under an advisory lock. A newer
 * schema is left as it is, so that an older node may restart during a rolling upgrade.
 *
 * @returns The names of the applied migrations.
 * @throws {Error} When an applied migration has changed.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  // Usually nothing is to do; this check needs no lock.
  if (await isUpToDate(database, migrations)) return [];
  await prepare(database);
  const done: string[] = [];
  for (const migration of migrations) {
    const isNew = await database.transaction(async (transaction) => {
      await lockMigrations(transaction);
      const [known] = await transaction.query<{ checksum: string }>(
        'SELECT checksum FROM schema_migrations WHERE version = $1',
        [migration.version],
      );
      if (known) requireUnchanged(migration, known.checksum);
      if (known) return false;
      await database.script(transaction, migration.sql);
      await transaction.query(
        'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, now())',
        [migration.version, migration.name, migration.checksum],
      );
      return true;
    });
    if (isNew) done.push(migration.name);
  }
  return done;
}

/** @throws {Error} When an applied migration has changed. */
async function isUpToDate(database: Database, migrations: readonly Migration[]): Promise<boolean> {
  const [table] = await database.query<{ exists: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`,
  );
  if (!table?.exists) return false;
  const rows = await database.query<{ version: number; checksum: string }>(
    'SELECT version, checksum FROM schema_migrations',
  );
  const checksums = new Map(rows.map(({ version, checksum }) => [version, checksum]));
  return migrations.every((migration) => {
    const checksum = checksums.get(migration.version);
    if (checksum !== undefined) requireUnchanged(migration, checksum);
    return checksum !== undefined;
  });
}

function requireUnchanged({ version, name, checksum }: Migration, known: string): void {
  if (known !== checksum)
    throw new Error(`migration ${version} (${name}) was changed after it had been applied`);
}

async function prepare(database: Database): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockMigrations(transaction);
    await transaction.query(`
      CREATE TABLE IF NOT EXISTS schema_migrations (
        version integer PRIMARY KEY,
        name text NOT NULL,
        checksum text NOT NULL,
        applied_at timestamptz NOT NULL
      )`);
  });
}

/** Waits for other nodes. The wait and a migration may take longer than the statement timeout. */
async function lockMigrations(transaction: Queryable): Promise<void> {
  await transaction.query('SET LOCAL statement_timeout = 0', []);
  await transaction.query('SELECT pg_advisory_xact_lock($1::bigint)', [MIGRATION_LOCK]);
}
