import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { HealthChange } from '../../../../src/base/async/healthMonitor.ts';
import { createSealer } from '../../../../src/base/sealer.ts';
import { systemClock } from '../../../../src/base/values/clock.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import {
  requireSameSealer,
  WrongSecretsKeyError,
} from '../../../../src/infra/postgres/secrets/sealerFingerprint.ts';
import { type PostgresServer, startPostgres } from '../../../support/postgres.ts';
import { startTcpProxy } from '../../../support/tcpProxy.ts';
import { databases, OPEN_TIMEOUT_MS, useDatabase } from '../support/databases.ts';

describe.each(databases)('The $name database', ({ open }) => {
  const opened = useDatabase(open);

  test('accepts the first secrets key, then no other', async () => {
    const [first, second] = [createSealer(Buffer.alloc(32, 1)), createSealer(Buffer.alloc(32, 2))];
    await requireSameSealer(opened.database, first);
    await requireSameSealer(opened.database, first);

    await expect(requireSameSealer(opened.database, second)).rejects.toBeInstanceOf(WrongSecretsKeyError);
    await requireSameSealer(opened.database, first);
  });

  test.each([
    ['a NUL character in a text', `SELECT $1::text`, 'a\0b'],
    ['a NUL character in JSON', `SELECT $1::jsonb`, '"\\u0000"'],
    ['a lone surrogate in JSON', `SELECT $1::jsonb`, '"\\ud800"'],
    ['no UUID', `SELECT $1::uuid`, 'rubbish'],
    ['a number out of range', `SELECT $1::integer`, '99999999999'],
  ])('rejects %s as not storable', async (_, sql, value) => {
    await expect(opened.database.query(sql, [value])).rejects.toMatchObject({
      category: 'invalid',
      code: 'value_not_storable',
    });
    expect(await opened.database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('passes SQL errors through and keeps working', async () => {
    await expect(opened.database.query('SELECT nonsense')).rejects.toThrow('nonsense');
    const transaction = opened.database.transaction(async (inner) => {
      await inner.query('SELECT nonsense').catch(() => undefined);
      await inner.query('SELECT 1');
    });
    await expect(transaction).rejects.toThrow('aborted');
    expect(await opened.database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('closes twice', async () => {
    const other = await open();
    await Promise.all([other.database.close(), other.database.close()]);
    await other.close();
  });
});

/** For tests that stop it or cut its connections, one after another. */
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, OPEN_TIMEOUT_MS);
afterAll(() => server.close());

test.each(['fast', 'immediate'] as const)(
  'A stopped server (%s) is unavailable until it is back',
  async (how) => {
    const broken: Error[] = [];
    const database = openPostgres({ url: server.url, onIdleError: (error) => broken.push(error) });
    onTestFinished(() => database.close());
    const table = `kept_${how}`;
    await database.query(`CREATE TABLE ${table} (id int)`);
    const unavailable = { category: 'unavailable', code: 'database_unavailable', retryAfterSeconds: 5 };
    const running = database.query('SELECT pg_sleep(60)').catch((error: unknown) => error);
    const inTransaction = database
      .transaction(async (transaction) => {
        await transaction.query(`INSERT INTO ${table} VALUES (1)`);
        await server.stop(how);
        await transaction.query(`INSERT INTO ${table} VALUES (2)`);
      })
      .catch((error: unknown) => error);

    expect(await inTransaction).toMatchObject(unavailable);
    expect(await running).toMatchObject(unavailable);
    await expect(database.query('SELECT 1')).rejects.toMatchObject(unavailable);
    await expect(database.transaction((inner) => inner.query('SELECT 1'))).rejects.toMatchObject(unavailable);

    await server.start();
    expect(await database.query(`SELECT * FROM ${table}`)).toEqual([]);
    await database.transaction((inner) => inner.query(`INSERT INTO ${table} VALUES (3)`));
    expect(await database.query(`SELECT * FROM ${table}`)).toEqual([{ id: 3 }]);
  },
);

test.each([
  ['no database of the name', (url: URL) => Object.assign(url, { pathname: '/missing' })],
  ['no role of the name', (url: URL) => Object.assign(url, { username: 'missing' })],
])('A server that refuses connections, since it has %s, is unavailable', async (_, change) => {
  const url = change(new URL(server.url)).href;
  const database = openPostgres({ url, onIdleError: () => undefined });
  onTestFinished(() => database.close());
  await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'database_unavailable' });
});

/** The server behind a proxy: it can be disconnected while its TCP connections stay open. */
async function proxiedPostgres() {
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: server.socket.port });
  onTestFinished(() => proxy.close());
  const url = new URL(server.url);
  url.port = String(proxy.port);
  return { proxy, url: url.href };
}

test('A monitored server that stops answering is down within seconds, and up when it answers again', async () => {
  const { proxy, url } = await proxiedPostgres();
  const changes: boolean[] = [];
  const health = { clock: systemClock, onChange: ({ isDown }: HealthChange) => changes.push(isDown) };
  const database = openPostgres({ url, onIdleError: () => undefined, health });
  onTestFinished(() => database.close());
  const unavailable = { category: 'unavailable', code: 'database_unavailable', retryAfterSeconds: 5 };
  await database.query('SELECT 1');

  const beganMs = performance.now();
  const waiting = [
    database.query('SELECT 1'),
    database.transaction(async (transaction) => {
      proxy.pause();
      await transaction.query('SELECT 1');
    }),
    // More than the connections of the pool: the last ones wait.
    ...Array.from({ length: 25 }, () => database.query('SELECT pg_sleep(60)')),
  ].map((query) => query.catch((error: unknown) => error));
  const ended = (await Promise.all(waiting)).slice(1);
  expect(ended).toMatchObject(ended.map(() => unavailable));
  // Statement timeouts are 30 s; nothing here waited for one.
  expect(performance.now() - beganMs).toBeLessThan(15_000);
  await expect(database.query('SELECT 1')).rejects.toMatchObject(unavailable);

  proxy.resume();
  await expect
    .poll(() => database.query('SELECT 1 AS one').catch(() => []), { timeout: 15_000 })
    .toEqual([{ one: 1 }]);
  expect(changes).toEqual([true, false]);
});

test('More queries than connections wait for a connection, longer than the connect timeout', async () => {
  const database = openPostgres({ url: server.url, onIdleError: () => undefined });
  onTestFinished(() => database.close());
  const slow = Array.from({ length: 20 }, () => database.query('SELECT pg_sleep(3.5)'));
  const late = Array.from({ length: 30 }, () => database.query('SELECT 1 AS one'));
  expect(await Promise.all(late)).toEqual(late.map(() => [{ one: 1 }]));
  await Promise.all(slow);
});

test('A silent server with open connections is unavailable after a timeout', async () => {
  const { proxy, url } = await proxiedPostgres();
  const database = openPostgres({ url, onIdleError: () => undefined, statementTimeoutMs: 100 });
  onTestFinished(() => database.close());
  await database.query('SELECT 1');
  const unavailable = { category: 'unavailable', code: 'database_unavailable' };
  const inTransaction = () =>
    database.transaction(async (transaction) => {
      proxy.pause();
      await transaction.query('SELECT 1');
    });

  await expect(inTransaction()).rejects.toMatchObject(unavailable);
  proxy.resume();
  expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});
