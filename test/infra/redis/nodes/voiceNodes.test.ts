import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { connectRedis, type RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { redisVoiceNodes } from '../../../../src/infra/redis/nodes/voiceNodes.ts';
import { redisServers, type TestRedis } from '../support/servers.ts';

const LONG_MS = 60_000;
const node = (nodeId: string, talks = 0) => ({ nodeId, url: `http://${nodeId}:3000`, talks });

describe.each(redisServers)('voice nodes on $name', ({ open }) => {
  let server: TestRedis;
  let redis: RedisConnection;
  beforeAll(async () => {
    server = await open();
    redis = connectRedis({ url: server.url, onError: () => undefined });
    await redis.untilReady();
  });
  afterAll(async () => {
    await redis.close();
    await server.close();
  });

  test('are those that said so and did not take it back, as they said last', async () => {
    const nodes = redisVoiceNodes(redis);
    expect(await nodes.alive()).toEqual([]);
    await Promise.all([nodes.announce(node('a'), LONG_MS), nodes.announce(node('b'), LONG_MS)]);
    await nodes.announce(node('a', 3), LONG_MS);
    const byId = new Map((await nodes.alive()).map((one) => [one.nodeId, one]));
    expect(byId).toEqual(new Map([node('b'), node('a', 3)].map((one) => [one.nodeId, one])));
    await nodes.withdraw('a');
    await nodes.withdraw('a');
    expect(await nodes.alive()).toEqual([node('b')]);
    await nodes.withdraw('b');
  });

  test('a dead one’s word runs out, and it may come back', async () => {
    const nodes = redisVoiceNodes(redis);
    await nodes.announce(node('dies'), 150);
    expect(await nodes.alive()).toEqual([node('dies')]);
    await vi.waitFor(async () => expect(await nodes.alive()).toEqual([]));
    expect(await redis.client.smembers('callway:{voice-nodes}')).toEqual([]);
    await nodes.announce(node('dies', 1), LONG_MS);
    expect(await nodes.alive()).toEqual([node('dies', 1)]);
    await nodes.withdraw('dies');
  });

  test('what another version says of itself is passed over', async () => {
    const nodes = redisVoiceNodes(redis);
    await nodes.announce(node('known'), LONG_MS);
    await redis.client.set('callway:{voice-nodes}:other', JSON.stringify({ at: 'elsewhere' }), 'PX', LONG_MS);
    await redis.client.sadd('callway:{voice-nodes}', 'other');
    expect(await nodes.alive()).toEqual([node('known')]);
    await nodes.withdraw('other');
    await nodes.withdraw('known');
  });
});
