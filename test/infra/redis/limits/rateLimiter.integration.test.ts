import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectRedis, type RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { redisRateLimiter } from '../../../../src/infra/redis/limits/rateLimiter.ts';
import { redisDatabase } from '../../../support/redis.ts';
import { createSimulatedClock } from '../../../support/simulatedClock.ts';

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

describe('Concurrent requests', () => {
  const CROWDS = [
    { title: 'are allowed when they are far below a high limit', limit: 6_000, requests: 400, allowed: 400 },
    { title: 'are allowed when they use up the whole limit', limit: 250, requests: 250, allowed: 250 },
    { title: 'are allowed up to a low limit', limit: 30, requests: 90, allowed: 30 },
  ];

  test.each(CROWDS)('$title', async ({ title, limit, requests, allowed }) => {
    const limiter = redisRateLimiter(redis, createSimulatedClock());
    const answers = await Promise.all(Array.from({ length: requests }, () => limiter.take(title, limit)));
    expect(answers.filter((answer) => answer.allowed).length).toBe(allowed);
  });

  test('of two nodes share one limit', async () => {
    const clock = createSimulatedClock();
    const nodes = [redisRateLimiter(redis, clock), redisRateLimiter(redis, clock)];
    const answers = await Promise.all(
      nodes.flatMap((node) => Array.from({ length: 40 }, () => node.take('two nodes', 50))),
    );
    expect(answers.filter((answer) => answer.allowed).length).toBe(50);
  });
});

test('A key that has reached its limit is rejected until the next minute', async () => {
  const clock = createSimulatedClock();
  const limiter = redisRateLimiter(redis, clock);
  const take = () => limiter.take('one', 1);
  expect(await take()).toEqual({ allowed: true });
  expect(await take()).toMatchObject({ allowed: false });
  expect(limiter.isExhausted('one')).toMatchObject({ allowed: false });
  clock.advance(60_000);
  expect(await take()).toEqual({ allowed: true });
});
