import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { installedRedisServer, probeRedis } from '../../../../src/infra/redis/connection/probe.ts';
import { freePort } from '../../../support/ports.ts';
import { type RedisServer, startRedis } from '../../../support/redis.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());

it('tells the version and what happens when the memory is full', async () => {
  const admin = new Redis(server.url);
  await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
  expect(await probeRedis(server.url)).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    evictionPolicy: 'allkeys-lru',
  });
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  expect(await probeRedis(server.url)).toMatchObject({ evictionPolicy: 'noeviction' });
  admin.disconnect();
});

it('rejects when nothing answers, and when the password is wrong', async () => {
  await expect(probeRedis(`redis://127.0.0.1:${await freePort()}`)).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });

  const admin = new Redis(server.url);
  await admin.config('SET', 'requirepass', 'right');
  await expect(probeRedis(server.url.replace('//', '//:wrong@'))).rejects.toThrow(/WRONGPASS|NOAUTH/);
  await admin.config('SET', 'requirepass', '');
  admin.disconnect();
});

it('finds the redis-server of this machine', async () => {
  expect(await installedRedisServer()).toMatch(/^\d+\.\d+\.\d+$/);
});
