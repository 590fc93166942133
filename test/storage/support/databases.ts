import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';

import type { Database } from '../../../src/storage/database.ts';
import { openEmbedded } from '../../../src/storage/embedded.ts';
import { migrate, readMigrations } from '../../../src/storage/migrate.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';
import { createTestDatabase } from '../../support/postgres.ts';

export const MIGRATIONS = fileURLToPath(new URL('../../../migrations/', import.meta.url));

export interface OpenDatabase {
  readonly database: Database;
  close(): Promise<void>;
}

/** For a hook that opens them: the embedded one's very first start is slow on a busy machine. */
export const OPEN_TIMEOUT_MS = 180_000;

/** The two that the service runs on, empty. */
export const databases = [
  { name: 'embedded', open: openEmbeddedDatabase },
  { name: 'server', open: openServerDatabase },
];

/** The newest schema, and nothing in it. */
export async function migrated(open: () => Promise<OpenDatabase>): Promise<OpenDatabase> {
  const opened = await open();
  await migrate(opened.database, await readMigrations(MIGRATIONS));
  return opened;
}

export async function openServerDatabase(): Promise<OpenDatabase> {
  const { url, drop } = await createTestDatabase();
  const database = openPostgres({ url, onIdleError: () => undefined });
  return {
    database,
    async close() {
      await database.close();
      await drop();
    },
  };
}

async function openEmbeddedDatabase(): Promise<OpenDatabase> {
  const database = await openEmbedded({ folder: 'memory://', snapshot: await emptySnapshot() });
  return { database, close: () => database.close() };
}

const MODULES = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

/** What the embedded database makes at its first start, which takes seconds; kept from run to run. */
async function emptySnapshot(): Promise<Blob> {
  const description = await readFile(join(MODULES, '@electric-sql/pglite/package.json'), 'utf8');
  const { version } = JSON.parse(description) as { version: string };
  const folder = join(MODULES, '.cache/callway-test');
  const file = join(folder, `pglite-${version}.tar`);
  const kept = await readFile(file).catch(() => undefined);
  if (kept) return new Blob([kept]);
  const fresh = await PGlite.create('memory://', { extensions: { vector } });
  const made = Buffer.from(await (await fresh.dumpDataDir('none')).arrayBuffer());
  await fresh.close();
  await mkdir(folder, { recursive: true });
  await writeFile(`${file}.${process.pid}`, made);
  await rename(`${file}.${process.pid}`, file);
  return new Blob([made]);
}
