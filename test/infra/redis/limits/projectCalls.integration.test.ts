import { beforeEach, describe, expect, test } from 'vitest';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { SlotHolders } from '../../../../src/calls/limits/slotHolders.ts';

import { redisProjectCalls } from '../../../../src/infra/redis/limits/projectCalls.ts';
import { unused } from '../../../support/unused.ts';
import { useCluster } from '../support/servers.ts';

const NONE = { perMinute: null, perHour: null };

describe('Project limits', () => {
  const cluster = useCluster();
  /** Of the calls that are stored. */
  let stored: string[];
  beforeEach(() => {
    stored = [];
  });
  const counts = () =>
    cluster.nodes.map((node) =>
      redisProjectCalls(node, unused<SlotHolders>('slotHolders', { ofProject: async () => stored })),
    ) as [Counts, Counts];
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
    for (const waitSeconds of refused) {
      expect(waitSeconds).toBeGreaterThan(0);
      expect(waitSeconds).toBeLessThanOrEqual(windowSeconds);
    }
  });

  test('ignore the counts of past windows', async () => {
    const [here] = counts();
    const projectId = uuidV7();
    const key = `callway:project:{${projectId}}:counts`;
    const most = { ...NONE, perMinute: 1, perHour: 2 };
    expect(await here.countCall(projectId, most)).toBeUndefined();
    await cluster.nodes[0]?.client.hset(key, 'minute', 1);
    expect(await here.countCall(projectId, most)).toBeUndefined();
    await cluster.nodes[0]?.client.hset(key, 'minute', 1);
    expect(await here.countCall(projectId, most)).toBeGreaterThan(0);
    await cluster.nodes[0]?.client.hset(key, 'hour', 1);
    expect(await here.countCall(projectId, most)).toBeUndefined();
    expect(await cluster.nodes[0]?.client.pttl(key)).toBeGreaterThan(3_600_000);
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

  test('count the stored calls again after Redis has lost the slots', async () => {
    const [here, there] = counts();
    const projectId = uuidV7();
    stored = ['one', 'two'];
    for (const call of stored) await here.acquireSlot(projectId, call, 3);
    await cluster.nodes[0]?.client.flushdb();
    const took = await Promise.all(
      [here, there, here, there].map((node, index) => node.acquireSlot(projectId, `next-${index}`, 3)),
    );
    expect(took.filter(Boolean)).toHaveLength(1);
  });
});
