import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { vector } from '@electric-sql/pglite-pgvector';
import { afterAll, beforeAll } from 'vitest';

import { lockPath, withLock } from '../../../../scripts/lib/lock.mjs';
import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import { migrate, readMigrations } from '../../../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import { EmbeddedServer, openEmbedded } from '../../../../src/infra/postgres/embedded/server.ts';
import { type Contents, createTestDatabase, MIGRATIONS } from '../../../support/postgres.ts';
import { makeTempDir } from '../../../support/tempDir.ts';

export { MIGRATIONS };

export interface OpenDatabase {
  readonly database: Database;
  close(): Promise<void>;
}

/** For hooks that open the databases: the first start of the embedded one is slow on a busy machine. */
export const OPEN_TIMEOUT_MS = 180_000;

export type Open = (contents?: Contents) => Promise<OpenDatabase>;

/** The two databases of the service; empty by default. */
export const databases: { readonly name: string; readonly open: Open }[] = [
  { name: 'embedded', open: openEmbeddedDatabase },
  { name: 'server', open: openServerDatabase },
];

/** With the newest schema and no rows. */
export function migrated(open: Open): Promise<OpenDatabase> {
  return open('newest');
}

/** A database of the tests of one `describe`, with the newest schema and no rows. */
export function useDatabase(open: Open = openServerDatabase): { readonly database: Database } {
  let opened: OpenDatabase | undefined;
  beforeAll(async () => {
    opened = await migrated(open);
  }, OPEN_TIMEOUT_MS);
  afterAll(() => opened?.close());
  return {
    get database() {
      if (!opened) throw new Error('the database is open during tests only');
      return opened.database;
    },
  };
}

export async function openServerDatabase(contents?: Contents): Promise<OpenDatabase> {
  const { url, drop } = await createTestDatabase(contents);
  const database = openPostgres({ url, onIdleError: () => undefined });
  return {
    database,
    async close() {
      await database.close();
      await drop();
    },
  };
}

/**
 * Embedded databases that no test uses, with the newest schema and no rows. A start takes seconds of processor time: a
 * file that is done leaves its database to the next file of this process.
 */
const idle: EmbeddedServer[] = [];

async function openEmbeddedDatabase(contents: Contents = 'empty'): Promise<OpenDatabase> {
  if (contents === 'empty') {
    const database = await openEmbedded({ folder: 'memory://', snapshot: await emptySnapshot() });
    return { database, close: () => database.close() };
  }
  const server =
    idle.pop() ?? (await EmbeddedServer.start({ folder: 'memory://', snapshot: await newestSnapshot() }));
  const database = openPostgres({ url: server.url, sharesSession: true, onIdleError: () => undefined });
  return {
    database,
    async close() {
      await removeRows(database);
      await database.close();
      idle.push(server);
    },
  };
}

async function removeRows(database: Database): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migrations'`,
  );
  await database.query(`TRUNCATE ${tables.map(({ name }) => name).join()} RESTART IDENTITY`);
}

/** Puts the newest schema into a data folder, which takes a first start of the service seconds. */
export async function prepareDatabase(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'database');
  await mkdir(folder, { recursive: true });
  const snapshot = await newestSnapshot();
  execFileSync('tar', ['-xf', '-', '-C', folder], { input: Buffer.from(await snapshot.arrayBuffer()) });
}

const MODULES = fileURLToPath(new URL('../../../../node_modules/', import.meta.url));

/** The files of a new embedded database, which take seconds to create. */
export function emptySnapshot(): Promise<Blob> {
  return kept('empty', () => dump('memory://'));
}

async function newestSnapshot(): Promise<Blob> {
  const migrations = await readMigrations(MIGRATIONS);
  const sum = createHash('sha256').update(migrations.map(({ checksum }) => checksum).join());
  return await kept(sum.digest('hex').slice(0, 16), async () => {
    const folder = makeTempDir();
    const database = await openEmbedded({ folder: folder.path, snapshot: await emptySnapshot() });
    await migrate(database, migrations);
    await database.close();
    const made = await dump(folder.path);
    folder.remove();
    return made;
  });
}

async function dump(folder: string): Promise<Blob> {
  const database = await PGlite.create(folder, { extensions: { vector, pg_trgm, btree_gin } });
  const made = await database.dumpDataDir('none');
  await database.close();
  return made;
}

/** Snapshots are cached between test runs, and made once: the processes of a run wait for the first one. */
async function kept(name: string, make: () => Promise<Blob>): Promise<Blob> {
  const description = await readFile(join(MODULES, '@electric-sql/pglite/package.json'), 'utf8');
  const { version } = JSON.parse(description) as { version: string };
  const folder = join(MODULES, '.cache/callway-test');
  const file = join(folder, `pglite-${version}-${name}.tar`);
  const read = async () => {
    const found = await readFile(file).catch(() => undefined);
    return found && new Blob([found]);
  };
  return (
    (await read()) ??
    (await withLock(lockPath(file), async () => {
      const madeMeanwhile = await read();
      if (madeMeanwhile) return madeMeanwhile;
      const made = await make();
      await mkdir(folder, { recursive: true });
      await writeFile(`${file}.${process.pid}`, Buffer.from(await made.arrayBuffer()));
      await rename(`${file}.${process.pid}`, file);
      return made;
    }))
  );
}
