import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { inject } from 'vitest';
import { findPostgres } from '../../scripts/lib/postgresInstallation.mjs';
import { migrate, readMigrations } from '../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../src/infra/postgres/connection/postgres.ts';
import { type Child, startChild, waitUntilReady } from './child.ts';
import { reservePort } from './ports.ts';
import { makeTempDir } from './tempDir.ts';

export const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url));

const READY_TIMEOUT_MS = 30_000;
const SUPERUSER = 'callway';
const run = promisify(execFile);

/**
 * The data does not outlive the test run, so nothing is flushed to disk. Commits still reach the operating system:
 * acknowledged writes survive a crash of the server.
 */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '128MB',
  max_connections: '200',
  listen_addresses: '127.0.0.1',
};

/** A Postgres server that a test owns. */
export interface PostgresServer {
  /** URL of the database `postgres`, as superuser, over TCP. */
  readonly url: string;
  /** Folder and port of its unix socket. */
  readonly socket: { readonly folder: string; readonly port: number };
  /**
   * `fast` rolls back running transactions; `immediate` ends like a crash, and the next start recovers.
   * Does nothing when the server is not running.
   */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** Restarts it on the same port and data. */
  start(): Promise<void>;
  /** Stops it and removes its data; idempotent. */
  close(): Promise<void>;
}

/** The database of one test file. */
export interface TestDatabase {
  readonly url: string;
  /** Drops it and closes remaining connections. */
  drop(): Promise<void>;
}

/** Initial contents of a test database: pgvector only, or the newest schema. */
export type Contents = 'empty' | 'newest';

/**
 * Creates a database on the test run's server.
 *
 * @throws When the server cannot be reached.
 */
export async function createTestDatabase(contents: Contents = 'empty'): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  const template = inject('postgresTemplate');
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  await createDatabase(serverUrl, name, templateOf(template, contents));
  return {
    url: withDatabase(serverUrl, name),
    drop: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/**
 * Creates the template databases of {@link createTestDatabase}.
 *
 * @returns Name of the empty template; the names of all test databases begin with it.
 */
export async function createTemplates(serverUrl: string): Promise<string> {
  const name = `callway_test_${randomBytes(4).toString('hex')}`;
  await execute(serverUrl, `CREATE DATABASE ${name}`);
  await execute(withDatabase(serverUrl, name), 'CREATE EXTENSION vector');
  const newest = templateOf(name, 'newest');
  await createDatabase(serverUrl, newest, name);
  const url = withDatabase(serverUrl, newest);
  const database = openPostgres({ url, onIdleError: () => undefined });
  await migrate(database, await readMigrations(MIGRATIONS));
  await database.close();
  return name;
}

/** Copies files: through the write-ahead log, as by default, it would take twice the processor time. */
async function createDatabase(serverUrl: string, name: string, template: string): Promise<void> {
  await execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
}

function templateOf(name: string, contents: Contents): string {
  return contents === 'empty' ? name : `${name}_newest`;
}

/** Drops the templates and every remaining test database. */
export async function dropTemplates(serverUrl: string, template: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
      [template],
    );
    for (const { name } of rows) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}

/** @throws When no Postgres with pgvector is installed, or the server does not become ready. */
export async function startPostgres(): Promise<PostgresServer> {
  const installation = findPostgres();
  if (!installation?.hasVector) {
    throw new Error('There is no Postgres with pgvector on this machine; "npm test" tells how to install it');
  }
  const { bin } = installation;
  const folder = makeTempDir();
  const owner = await serverOwner();
  if (owner) chownSync(folder.path, owner.uid, owner.gid);
  const server = { bin, folder: folder.path, owner };
  await initialize(server);
  let { child, port } = await startOnFreePort(server);

  const stop = async (how: 'fast' | 'immediate' = 'fast') => {
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await child.ended;
  };
  return {
    url: urlOf(port),
    socket: { folder: folder.path, port },
    stop,
    async start() {
      if (!child.isRunning()) child = await startOn(server, port);
    },
    async close() {
      await stop('immediate');
      folder.remove();
    },
  };
}

interface Server {
  readonly bin: string;
  readonly folder: string;
  readonly owner: Owner | undefined;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Postgres refuses to run as root; its packages create a user for it. */
async function serverOwner(): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])));
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}

async function initialize({ bin, folder, owner }: Server): Promise<void> {
  const args = [
    '-D',
    dataFolder(folder),
    '-U',
    SUPERUSER,
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--no-locale',
    '--no-sync',
  ];
  const initdb = await startChild(join(bin, 'initdb'), args, { ...owner, cwd: folder, folder });
  const { code } = await initdb.ended;
  if (code !== 0) throw new Error(`initdb failed:\n${initdb.lines.join('\n')}`);
}

async function startOnFreePort(server: Server): Promise<{ child: Child; port: number }> {
  const port = await reservePort();
  return { child: await startOn(server, port), port };
}

async function startOn({ bin, folder, owner }: Server, port: number): Promise<Child> {
  const settings = Object.entries({ ...SETTINGS, port: String(port), unix_socket_directories: folder });
  const args = ['-D', dataFolder(folder), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const child = await startChild(join(bin, 'postgres'), args, {
    ...owner,
    cwd: folder,
    folder,
    watchdogSignal: 'QUIT',
  });
  await waitUntilReady('Postgres', child, () => answers(urlOf(port)), READY_TIMEOUT_MS);
  return child;
}

async function answers(url: string): Promise<boolean> {
  try {
    await execute(url, 'SELECT 1');
    return true;
  } catch {
    return false; // not listening or starting up: the caller polls until its timeout
  }
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  // The server may close the connection at any time; the running query then rejects.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function urlOf(port: number): string {
  return `postgres://${SUPERUSER}@127.0.0.1:${port}/postgres`;
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function dataFolder(folder: string): string {
  return join(folder, 'data');
}
