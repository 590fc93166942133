import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { Database, Queryable, Session } from './database.ts';
import { isLockTimeout } from './errors.ts';

/** Key of the advisory lock that serializes the migrations of nodes. */
const MIGRATION_LOCK = 7_223_104_551;
/** Requests that need the same table queue behind the wait for its lock. */
const LOCK_TIMEOUT = '2s';
const LOCK_PAUSE_MS = 1_000;
const ATTEMPTS_PER_REPORT = 10;
const POLL_MS = 200;
const POLLS_PER_REPORT = 150;
/** First line of a migration whose statements run one by one. */
export const OUTSIDE_TRANSACTION = '-- Outside a transaction.';
const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL
)`;
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** An applied migration has other content than this build's: there is no way from that schema to this one. */
export class OtherBuildError extends Error {
  constructor() {
    super(
      'this database was made by an unreleased build of Callway, which alone can use it: set DATABASE_URL, or DATA_DIR where the database is embedded, to a new one',
    );
    this.name = 'OtherBuildError';
  }
}

/**
 * Whether a migration was applied with other content. Those of a newer release, which are unknown here, are no sign of it.
 *
 * @param applied - Checksums by version.
 */
export function isOfOtherBuild(
  applied: ReadonlyMap<number, string>,
  migrations: readonly Migration[],
): boolean {
  return migrations.some(({ version, checksum }) => (applied.get(version) ?? checksum) !== checksum);
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

export type MigrationWait = 'another node' | 'a lock';

export interface MigrateOptions {
  /** Called when a wait begins, and then at intervals. */
  readonly onWait?: (what: MigrationWait, migration: string | undefined) => void;
  /** Called before each migration. */
  readonly onMigrate?: (name: string) => void;
}

/**
 * Migrates the database to the newest schema while it is in use: under an advisory lock, each migration in one
 * transaction that waits no longer than {@link LOCK_TIMEOUT} for a lock, since requests queue behind it, and is tried
 * again. One that begins with {@link OUTSIDE_TRANSACTION} runs statement by statement, which `CREATE INDEX CONCURRENTLY`
 * requires; each of its statements must have the same effect when it runs again.
 *
 * A newer schema is left as it is, so that an older node may restart during a rolling upgrade.
 *
 * @returns The names of the applied migrations.
 * @throws {OtherBuildError} Before anything in the database changes.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<string[]> {
  // Usually nothing is to do; this check needs no lock.
  if (await isUpToDate(database, migrations)) return [];
  return await database.session(async (session) => {
    await lockMigrations(session, options);
    try {
      return await applyMissing(session, migrations, options);
    } finally {
      // A connection that was lost has no lock any more.
      await session.query('SELECT pg_advisory_unlock($1::bigint)', [MIGRATION_LOCK]).catch(() => undefined);
    }
  });
}

async function applyMissing(
  session: Session,
  migrations: readonly Migration[],
  options: MigrateOptions,
): Promise<string[]> {
  await session.script(CREATE_TABLE);
  const applied = await appliedMigrations(session, migrations);
  const done: string[] = [];
  for (const migration of migrations) {
    if (applied.has(migration.version)) continue;
    options.onMigrate?.(migration.name);
    if (migration.sql.startsWith(OUTSIDE_TRANSACTION)) await applyStatements(session, migration);
    else await applyWithRetries(session, migration, options);
    done.push(migration.name);
  }
  return done;
}

async function applyWithRetries(
  session: Session,
  migration: Migration,
  { onWait }: MigrateOptions,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await session.script(`BEGIN; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
      await session.script(migration.sql);
      await record(session, migration);
      await session.script('COMMIT');
      return;
    } catch (error) {
      await session.script('ROLLBACK');
      if (!isLockTimeout(error)) throw error;
      if (attempt % ATTEMPTS_PER_REPORT === 1) onWait?.('a lock', migration.name);
      // Requests that queued behind the lock are served first.
      await delay(LOCK_PAUSE_MS);
    }
  }
}

async function applyStatements(session: Session, migration: Migration): Promise<void> {
  const statements = migration.sql
    .split(/;\s*$/m)
    .filter((text) => text.replace(/^\s*--.*$/gm, '').trim() !== '');
  for (const statement of statements) await session.script(statement);
  await record(session, migration);
}

async function record(session: Session, { version, name, checksum }: Migration): Promise<void> {
  await session.query(
    'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, now())',
    [version, name, checksum],
  );
}

async function isUpToDate(database: Database, migrations: readonly Migration[]): Promise<boolean> {
  const [table] = await database.query<{ exists: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`,
  );
  if (!table?.exists) return false;
  const applied = await appliedMigrations(database, migrations);
  return migrations.every(({ version }) => applied.has(version));
}

/** @returns Checksums by version. @throws {OtherBuildError} */
async function appliedMigrations(
  database: Queryable,
  migrations: readonly Migration[],
): Promise<Map<number, string>> {
  const rows = await database.query<{ version: number; checksum: string }>(
    'SELECT version, checksum FROM schema_migrations',
  );
  const applied = new Map(rows.map(({ version, checksum }) => [version, checksum]));
  if (isOfOtherBuild(applied, migrations)) throw new OtherBuildError();
  return applied;
}

/** Waits for other nodes, without a query that a timeout could end. */
async function lockMigrations(session: Session, { onWait }: MigrateOptions): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const [row] = await session.query<{ locked: boolean }>(
      'SELECT pg_try_advisory_lock($1::bigint) AS locked',
      [MIGRATION_LOCK],
    );
    if (row?.locked) return;
    if (attempt % POLLS_PER_REPORT === 0) onWait?.('another node', undefined);
    await delay(POLL_MS);
  }
}
