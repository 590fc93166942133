import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import { EmbeddedServer } from '../../../../src/infra/postgres/embedded/server.ts';
import { detectLeaks } from '../../../support/leaks.ts';
import { makeTempDir } from '../../../support/tempDir.ts';
import { emptySnapshot, OPEN_TIMEOUT_MS } from '../support/databases.ts';

const folder = makeTempDir();
const failures: unknown[] = [];
let server: EmbeddedServer;
/** Pools of two threads. */
let pools: readonly [Database, Database];
let worker: Worker;
let assertNoLeaks: () => Promise<void>;

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  const snapshot = await emptySnapshot();
  process.once('worker', (started: Worker) => {
    worker = started;
  });
  server = await EmbeddedServer.start({
    folder: folder.path,
    snapshot,
    onFailure: (error) => failures.push(error),
  });
  const open = () => openPostgres({ url: server.url, sharesSession: true, onIdleError: () => undefined });
  pools = [open(), open()];
}, OPEN_TIMEOUT_MS);

afterAll(async () => {
  for (const pool of pools) await pool.close();
  await server.close();
  folder.remove();
  await assertNoLeaks();
});

async function connectClient(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

test('Transactions of all connections exclude each other', async () => {
  const [first] = pools;
  await first.query('CREATE TABLE counters (name text PRIMARY KEY, value integer NOT NULL)');
  await first.query(`INSERT INTO counters VALUES ('calls', 0)`);
  const add = (pool: Database) =>
    pool.transaction(async ({ query }) => {
      const [row] = await query<{ value: number }>(`SELECT value FROM counters WHERE name = 'calls'`);
      await query(`UPDATE counters SET value = $1 WHERE name = 'calls'`, [(row?.value ?? 0) + 1]);
    });
  await Promise.all(Array.from({ length: 40 }, (_, index) => add(pools[index % 2 === 0 ? 0 : 1])));
  expect(await first.query('SELECT value FROM counters')).toEqual([{ value: 40 }]);
});

test('A connection that ends in a transaction is rolled back and holds up none of the others', async () => {
  const [first] = pools;
  const client = await connectClient();
  await client.query('BEGIN');
  await client.query('CREATE TABLE unfinished (id integer)');
  const waiting = first.query<{ name: unknown }>(`SELECT to_regclass('unfinished') AS name`);
  await client.end();
  expect(await waiting).toEqual([{ name: null }]);
});

test('Connections use the same statement name without meeting each other', async () => {
  const select = (pool: Database, value: number) =>
    pool.query('SELECT $1::integer AS value', [value], 'select-value');
  const found = await Promise.all(
    Array.from({ length: 12 }, (_, index) => select(pools[index % 2 === 0 ? 0 : 1], index)),
  );
  expect(found).toEqual(found.map((_, index) => [{ value: index }]));
});

test('A statement takes nothing from the event loop of its caller', async () => {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 5);
  await pools[0].query(`SELECT count(*) FROM generate_series(1, 500000) AS n WHERE sqrt(n)::text LIKE '%7'`);
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(20);
});

test.each([
  ['a wrong password', [`\0\0\0\x0e\0\x03\0\0user\0\0`, `p\0\0\0\x0ashort\0`]],
  ['a request instead of a password', [`\0\0\0\x0e\0\x03\0\0user\0\0`, `Q\0\0\0\x0dSELECT 1\0`]],
  ['an old version of the protocol', [`\0\0\0\x0e\0\x02\0\0user\0\0`]],
  ['HTTP', ['GET / HTTP/1.1\r\n\r\n']],
])('A connection with %s is closed', async (_, messages) => {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  const received: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => received.push(bytes));
  for (const message of messages) socket.write(Buffer.from(message, 'latin1'));
  await once(socket, 'close');
  // At most the request for a password.
  expect(['', '520000000800000003']).toContain(Buffer.concat(received).toString('hex'));
});

test('After the death of its thread the database is back on its address, with all that was committed', async () => {
  const [first, second] = pools;
  await first.query('CREATE TABLE kept (id integer)');
  await first.query('INSERT INTO kept VALUES (1)');
  const interrupted = second
    .transaction(async ({ query }) => {
      await query('INSERT INTO kept VALUES (2)');
      await worker.terminate();
      await query('INSERT INTO kept VALUES (3)');
    })
    .catch((error: unknown) => error);
  expect(await interrupted).toMatchObject({ code: 'database_unavailable', retryAfterSeconds: 5 });
  const ids = () => first.query('SELECT id FROM kept').catch(() => 'unavailable');
  await expect.poll(ids, { timeout: OPEN_TIMEOUT_MS }).toEqual([{ id: 1 }]);
  expect(failures.splice(0)).toHaveLength(1);
});

test('A database that panics is restarted until it can be opened', async () => {
  const [first] = pools;
  const [log, elsewhere] = [join(folder.path, 'pg_wal'), join(folder.path, 'elsewhere')];
  await first.query('CREATE TABLE recovered (id integer)');
  renameSync(log, elsewhere);
  await expect(first.query('SELECT pg_switch_wal()')).resolves.toHaveLength(1);
  await expect(first.query('INSERT INTO recovered VALUES (1)')).rejects.toMatchObject({
    code: 'database_unavailable',
  });
  await expect.poll(() => failures.length, { timeout: OPEN_TIMEOUT_MS }).toBeGreaterThan(1);
  expect(String(failures[0])).toContain('PANIC:  could not');
  renameSync(elsewhere, log);
  const rows = () => first.query('SELECT id FROM recovered').catch(() => 'unavailable');
  await expect.poll(rows, { timeout: OPEN_TIMEOUT_MS }).toEqual([]);
});
