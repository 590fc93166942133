import { existsSync } from 'node:fs';
import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, startPostgres } from './postgres.ts';
import { redisDatabase } from './redis.ts';

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function connectRedis(url: string): Redis {
  const client = new Redis(url, { retryStrategy: () => 20 });
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

test('Each test database is empty, has pgvector, and is gone once dropped', async () => {
  const databases = await Promise.all(Array.from({ length: 8 }, createTestDatabase));
  const [first, second] = databases;
  if (!first || !second) throw new Error('no databases');
  expect(new Set(databases.map(({ url }) => url)).size).toBe(8);

  await query(first.url, 'CREATE TABLE mine (id int)');
  expect(await query(second.url, "SELECT to_regclass('mine') AS found")).toEqual([{ found: null }]);
  expect(await query(second.url, "SELECT '[3,4]'::vector <-> '[0,0]' AS distance")).toEqual([
    { distance: 5 },
  ]);

  await Promise.all(databases.map(({ drop }) => drop()));
  await expect(query(first.url, 'SELECT 1')).rejects.toThrow('does not exist');
});

test.each(['fast', 'immediate'] as const)('A test Postgres keeps its rows over a %s stop', async (how) => {
  const server = await startPostgres();
  onTestFinished(() => server.close());
  await query(server.url, 'CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)');

  await server.stop(how);
  await expect(query(server.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  await server.start();

  expect(await query(server.url, 'SELECT id FROM kept')).toEqual([{ id: 7 }]);
  const { folder } = server.socket;
  await server.close();
  expect(existsSync(folder)).toBe(false);
});

test('Redis databases are isolated, and empty when reused', async () => {
  const [first, second] = await Promise.all([redisDatabase(), redisDatabase()]);
  expect(first.url).not.toBe(second.url);
  await connectRedis(first.url).set('key', 'value');

  expect(await connectRedis(second.url).dbsize()).toBe(0);

  await first.drop();
  // The lowest free one: this one, unless another test has left a lower one meanwhile.
  const again = await redisDatabase();
  expect(again.url).not.toBe(second.url);
  expect(await connectRedis(again.url).dbsize()).toBe(0);
  await Promise.all([second.drop(), again.drop()]);
});
