import { beforeAll, describe, expect, test, vi } from 'vitest';

import type { RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { redisVoiceNodes } from '../../../../src/infra/redis/nodes/leasedEntries.ts';
import { useCluster } from '../support/servers.ts';

const LONG_MS = 60_000;
const node = (nodeId: string, sessions = 0, isOverloaded = false) => ({
  nodeId,
  url: `http://${nodeId}:3000`,
  sessions,
  isOverloaded,
});

describe('Voice nodes', () => {
  const cluster = useCluster();
  let redis: RedisConnection;
  beforeAll(() => {
    [redis] = cluster.nodes;
  });

  test('are those that announced themselves and did not withdraw, with their last announcement', async () => {
    const nodes = redisVoiceNodes(redis);
    expect(await nodes.list()).toEqual([]);
    await Promise.all([nodes.register(node('a'), LONG_MS), nodes.register(node('b'), LONG_MS)]);
    await nodes.register(node('a', 3, true), LONG_MS);
    const byId = new Map((await nodes.list()).map((one) => [one.nodeId, one]));
    expect(byId).toEqual(new Map([node('b'), node('a', 3, true)].map((one) => [one.nodeId, one])));
    await nodes.deregister('a');
    await nodes.deregister('a');
    expect(await nodes.list()).toEqual([node('b')]);
    await nodes.deregister('b');
  });

  test('expire, and may come back', async () => {
    const nodes = redisVoiceNodes(redis);
    await nodes.register(node('dies'), 150);
    expect(await nodes.list()).toEqual([node('dies')]);
    await vi.waitFor(async () => expect(await nodes.list()).toEqual([]));
    expect(await redis.client.smembers('callway:{voice-nodes}')).toEqual([]);
    await nodes.register(node('dies', 1), LONG_MS);
    expect(await nodes.list()).toEqual([node('dies', 1)]);
    await nodes.deregister('dies');
  });

  test('of another version with an unknown form are ignored', async () => {
    const nodes = redisVoiceNodes(redis);
    await nodes.register(node('known'), LONG_MS);
    await redis.client.set('callway:{voice-nodes}:other', JSON.stringify({ at: 'elsewhere' }), 'PX', LONG_MS);
    await redis.client.sadd('callway:{voice-nodes}', 'other');
    expect(await nodes.list()).toEqual([node('known')]);
    await nodes.deregister('other');
    await nodes.deregister('known');
  });
});
