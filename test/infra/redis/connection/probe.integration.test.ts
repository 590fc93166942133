import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { installedRedisServer, probeRedis } from '../../../../src/infra/redis/connection/probe.ts';
import { reservePort } from '../../../support/ports.ts';
import { type RedisServer, startRedis } from '../../../support/redis.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());

it('probeRedis returns the version and the eviction policy', async () => {
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

it('probeRedis rejects when the server is unreachable, or refuses the password or the database number', async () => {
  await expect(probeRedis(`redis://127.0.0.1:${await reservePort()}`)).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });

  await expect(probeRedis(`${server.url}/99999`)).rejects.toThrow('REDIS_URL: the server has no database');

  const admin = new Redis(server.url);
  await admin.config('SET', 'requirepass', 'right');
  await expect(probeRedis(server.url.replace('//', '//:wrong@'))).rejects.toThrow(/WRONGPASS|NOAUTH/);
  await admin.config('SET', 'requirepass', '');
  admin.disconnect();
});

it('installedRedisServer returns the version on PATH', async () => {
  expect(await installedRedisServer()).toMatch(/^\d+\.\d+\.\d+$/);
});
