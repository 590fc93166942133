import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { connectRedis, type RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { createScript } from '../../../../src/infra/redis/connection/scripts.ts';
import { redisDatabase } from '../../../support/redis.ts';

let database: Awaited<ReturnType<typeof redisDatabase>>;
let redis: RedisConnection;

beforeAll(async () => {
  database = await redisDatabase();
  redis = connectRedis({ url: database.url, onError: () => undefined });
  await redis.untilReady();
});

afterAll(async () => {
  await redis.close();
  await database.drop();
});

/** A script that no server knows yet. */
const unheardOf = () => `-- ${randomUUID()}\n`;

test('A script runs on a server that does not know it, and by its digest afterwards', async () => {
  const text = `${unheardOf()}return {redis.call('INCRBY', KEYS[1], ARGV[1]), false}`;
  const script = createScript(text);
  expect(await script(redis, ['counter'], [2])).toEqual([2, null]);
  const sent: string[] = [];
  const evaluate = redis.client.eval.bind(redis.client);
  redis.client.eval = ((...args: Parameters<typeof evaluate>) => {
    sent.push(String(args[0]));
    return evaluate(...args);
  }) as typeof redis.client.eval;
  expect(await script(redis, ['counter'], [3])).toEqual([5, null]);
  expect(sent).toEqual([]);
});

test('A script that fails is not run again', async () => {
  const script = createScript(`${unheardOf()}redis.call('INCR', KEYS[1]) return redis.call('LPOP', KEYS[1])`);
  await expect(script(redis, ['once'], [])).rejects.toMatchObject({ code: 'redis_unavailable' });
  await expect(script(redis, ['once'], [])).rejects.toMatchObject({ code: 'redis_unavailable' });
  expect(await redis.client.get('once')).toBe('2');
});
