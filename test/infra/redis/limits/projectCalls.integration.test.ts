import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/ids.ts';
import { connectRedis, type RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { redisProjectCalls } from '../../../../src/infra/redis/limits/projectCalls.ts';
import { redisServers, type TestRedis } from '../support/servers.ts';

const NONE = { perMinute: null, perHour: null, talkedMsPerDay: null, spentMillionthsPerDay: null };
const NOTHING = { talkTimeMs: 0, spentMillionths: 0 };

describe.each(redisServers)('Project limits on $name', ({ open }) => {
  let server: TestRedis;
  let nodes: RedisConnection[];
  beforeAll(async () => {
    server = await open();
    nodes = [1, 2].map(() => connectRedis({ url: server.url, onError: () => undefined }));
    await Promise.all(nodes.map((node) => node.untilReady()));
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await server.close();
  });
  const counts = () => nodes.map(redisProjectCalls) as [Counts, Counts];
  type Counts = ReturnType<typeof redisProjectCalls>;

  test.each([
    ['a minute', { ...NONE, perMinute: 5 }, 60],
    ['an hour', { ...NONE, perHour: 5 }, 3600],
  ])('allow no more calls than the limit for a %s, over two nodes', async (_what, most, windowSeconds) => {
    const projectId = uuidV7();
    const ask = () => {
      const [here, there] = counts();
      return Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? here : there).countCall(projectId, most)),
      );
    };
    const answers = await ask();
    const refused = answers.filter((answer) => answer !== undefined);
    // The window may change during the test; the next one allows the same number again.
    const allowed = answers.length - refused.length;
    expect([5, 10]).toContain(allowed);
    for (const { what, retryAfterSeconds } of refused) {
      expect(what).toBe('rate');
      expect(retryAfterSeconds).toBeGreaterThan(0);
      expect(retryAfterSeconds).toBeLessThanOrEqual(windowSeconds);
    }
  });

  test('ignore the counts of past windows', async () => {
    const [here] = counts();
    const projectId = uuidV7();
    const key = `callway:project:{${projectId}}:counts`;
    const most = { ...NONE, perMinute: 1, perHour: 2 };
    expect(await here.countCall(projectId, most)).toBeUndefined();
    await nodes[0]?.client.hset(key, 'minute', 1);
    expect(await here.countCall(projectId, most)).toBeUndefined();
    await nodes[0]?.client.hset(key, 'minute', 1);
    expect(await here.countCall(projectId, most)).toMatchObject({ what: 'rate' });
    await nodes[0]?.client.hset(key, 'hour', 1);
    expect(await here.countCall(projectId, most)).toBeUndefined();
    expect(await nodes[0]?.client.pttl(key)).toBeGreaterThan(86_400_000);
  });

  test.each([
    ['minutes', 60_000, 'talkedMsPerDay', { talkTimeMs: 6000, spentMillionths: 0 }],
    [
      'spending',
      2_500_000_000_000,
      'spentMillionthsPerDay',
      { talkTimeMs: 1, spentMillionths: 250_000_000_000 },
    ],
  ] as const)('add up a day’s %s over all nodes', async (what, most, limit, each) => {
    const [here, there] = counts();
    const projectId = uuidV7();
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? here : there).addUsage(projectId, each)),
    );
    const used = { talkTimeMs: 10 * each.talkTimeMs, spentMillionths: 10 * each.spentMillionths };
    expect(await here.addUsage(projectId, NOTHING)).toEqual(used);
    expect(await here.addUsage(uuidV7(), NOTHING)).toEqual(NOTHING);
    const over = await there.countCall(projectId, { ...NONE, [limit]: most });
    expect(over?.what).toBe(what);
    expect(over?.retryAfterSeconds).toBeLessThanOrEqual(86_400);
    expect(await there.countCall(projectId, { ...NONE, [limit]: most + 1 })).toBeUndefined();
  });

  test('ignore the use of the day before', async () => {
    const [here] = counts();
    const projectId = uuidV7();
    await here.addUsage(projectId, { talkTimeMs: 5, spentMillionths: 7 });
    const key = `callway:project:{${projectId}}:counts`;
    await nodes[0]?.client.hset(key, { day: 1, spending: 1 });
    expect(await here.addUsage(projectId, NOTHING)).toEqual(NOTHING);
  });

  test('give no more slots than the limit, and free them', async () => {
    const [here, there] = counts();
    const projectId = uuidV7();
    const took = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? here : there).acquireSlot(projectId, `call-${index}`, 3),
      ),
    );
    expect(took.filter(Boolean)).toHaveLength(3);
    const holder = `call-${took.indexOf(true)}`;
    expect(await here.acquireSlot(projectId, holder, 3)).toBe(true);
    expect(await here.acquireSlot(projectId, 'next', 3)).toBe(false);
    await there.renewSlot(projectId, holder);
    await there.releaseSlot(projectId, holder);
    expect(await here.acquireSlot(projectId, 'next', 3)).toBe(true);
  });
});
