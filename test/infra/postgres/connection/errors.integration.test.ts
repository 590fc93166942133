import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { newAgentConfig } from '../../../../src/agents/agentConfig.ts';
import { createSealer } from '../../../../src/base/sealer.ts';
import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import { migrate } from '../../../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import { createStorage } from '../../../../src/infra/postgres/storage.ts';
import { createTestDatabase } from '../../../support/postgres.ts';
import { databases, OPEN_TIMEOUT_MS, useDatabase } from '../support/databases.ts';

const BUSY = { category: 'unavailable', code: 'database_busy', retryAfterSeconds: 2 };
const CONFLICTS = ['40001', '40P01'];
const AT = '2026-11-21T09:00:00.000Z';

/** A statement that fails with the SQLSTATE. */
const raise = (code: string) => `DO $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = '${code}'; END $$`;

describe.each(databases)('on the $name database', ({ open }) => {
  const opened = useDatabase(open);
  let database: Database;
  beforeAll(async () => {
    database = opened.database;
    await database.query('CREATE TABLE attempts (id int)');
    await database.query('CREATE SEQUENCE tries');
  }, OPEN_TIMEOUT_MS);

  /** Inserts a row, then fails the given number of times. */
  const attempt = async (code: string, failures: number) => {
    await database.query('TRUNCATE attempts');
    let attempts = 0;
    const result = await database
      .transaction(async (transaction) => {
        attempts += 1;
        await transaction.query('INSERT INTO attempts VALUES ($1)', [attempts]);
        if (attempts <= failures) await transaction.query(raise(code));
        return 'done';
      })
      .catch((error: unknown) => error);
    return { attempts, result, rows: await database.query('SELECT id FROM attempts') };
  };

  test.each(['57014', '55P03', ...CONFLICTS])('SQLSTATE %s is reported as a busy database', async (code) => {
    await expect(database.query(raise(code))).rejects.toMatchObject(BUSY);
  });

  test.each(CONFLICTS)('A transaction that failed with %s is retried completely', async (code) => {
    expect(await attempt(code, 2)).toEqual({ attempts: 3, result: 'done', rows: [{ id: 3 }] });
  });

  test.each(CONFLICTS)('and fails after the third %s', async (code) => {
    expect(await attempt(code, 99)).toEqual({ attempts: 3, result: expect.objectContaining(BUSY), rows: [] });
  });

  test.each(['57014', '23505', '22021', 'P0001'])('%s is not retried', async (code) => {
    expect(await attempt(code, 99)).toMatchObject({ attempts: 1, rows: [] });
  });

  test('A single statement is retried too', async () => {
    // A sequence does not roll back.
    await database.query(`DO $$ BEGIN IF nextval('tries') < 3 THEN RAISE EXCEPTION 'as if' USING ERRCODE = '40P01';
      END IF; END $$`);
    expect(await database.query(`SELECT last_value::int AS tries FROM tries`)).toEqual([{ tries: 3 }]);
  });

  describe('A row of a removed project', () => {
    const gone = randomUUID();
    const stores = () => createStorage(database, createSealer(Buffer.alloc(32))).stores;

    test.each<[string, () => Promise<unknown>]>([
      ['an agent', () => stores().agents.insert(gone, { config: newAgentConfig('x'), live: null })],
      [
        'a key',
        () =>
          stores().apiKeys.insert({
            id: randomUUID(),
            projectId: gone,
            name: 'x',
            kind: 'secret',
            digest: 'x',
            hint: 'x',
            scopes: ['read'],
            createdAt: AT,
            lastUsedAt: null,
          }),
      ],
      ['a webhook secret', () => stores().webhookSecrets.insert(gone, 'whsec_x', AT)],
    ])('is rejected with project not found: %s', async (_, insert) => {
      await expect(insert()).rejects.toMatchObject({ category: 'not_found', code: 'project_not_found' });
    });

    test('A violation of another foreign key is passed through', async () => {
      const insert = database.query('INSERT INTO test_suite_cases VALUES ($1, $2, 0)', [gone, gone]);
      await expect(insert).rejects.toMatchObject({ code: '23503' });
    });
  });
});

describe('On a server', () => {
  const openWith = async (statementTimeoutMs: number) => {
    const { url, drop } = await createTestDatabase();
    const database = openPostgres({ url, onIdleError: () => undefined, statementTimeoutMs });
    onTestFinished(async () => {
      await database.close();
      await drop();
    });
    return database;
  };
  const migration = (sql: string) => ({ version: 1, name: 'long', sql, checksum: 'x' });

  test('two conflicting transactions both succeed', async () => {
    const database = await openWith(20_000);
    await database.query('CREATE TABLE pair (id int PRIMARY KEY, changes int)');
    await database.query('INSERT INTO pair VALUES (1, 0), (2, 0)');
    const bothInside = barrier(2);
    let attempts = 0;
    const change = (first: number, second: number) =>
      database.transaction(async (transaction) => {
        attempts += 1;
        const add = 'UPDATE pair SET changes = changes + 1 WHERE id = $1';
        await transaction.query(add, [first]);
        await bothInside();
        await transaction.query(add, [second]);
      });

    await Promise.all([change(1, 2), change(2, 1)]);

    expect(await database.query('SELECT id, changes FROM pair ORDER BY id')).toEqual([
      { id: 1, changes: 2 },
      { id: 2, changes: 2 },
    ]);
    // At least one was retried; on a slow machine they may conflict again.
    expect(attempts).toBeGreaterThanOrEqual(3);
  });

  test('a statement that times out is cancelled, and its connection stays usable', async () => {
    const database = await openWith(100);

    await expect(database.query('SELECT pg_sleep(5)')).rejects.toMatchObject(BUSY);
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('a migration may exceed the statement timeout, and so may the wait of other nodes', async () => {
    const database = await openWith(200);
    const long = [migration('CREATE TABLE slowly (id int); SELECT pg_sleep(0.6);')];

    const done = await Promise.all([migrate(database, long), migrate(database, long)]);

    expect(done.flat()).toEqual(['long']);
    await expect(database.query('SELECT pg_sleep(5)')).rejects.toMatchObject(BUSY);
  });
});

/** Releases all waiters when `count` of them have arrived; later ones pass at once. */
function barrier(count: number): () => Promise<void> {
  let come = 0;
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    come += 1;
    if (come === count) open();
    return opened;
  };
}
