import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { openWakeups, type Wakeups } from '../../../src/infra/redis/wakeups.ts';
import { startRedis } from '../../support/redis.ts';
import { useCluster } from './support/servers.ts';

describe('Announced work', () => {
  const cluster = useCluster();
  let nodes: [Wakeups, Wakeups];
  beforeAll(async () => {
    nodes = [1, 2].map(() => openWakeups({ url: cluster.url, onError: () => undefined })) as typeof nodes;
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('wakes one node for each row, now or once there is one, and only those with its kind', async () => {
    const [woken, others] = [vi.fn(), vi.fn()];
    const announce = (id: string) => nodes[0].announce('letters', id);
    await announce('early');
    for (const node of nodes) node.listen('letters', woken);
    for (const node of nodes) node.listen('parcels', others);
    await vi.waitFor(() => expect(woken).toHaveBeenCalledTimes(1), 10_000);
    for (let letter = 0; letter < 20; letter += 1) await announce(`letter ${letter}`);
    await vi.waitFor(() => expect(woken).toHaveBeenCalledTimes(21), 10_000);
    await announce('early');
    await vi.waitFor(() => expect(woken).toHaveBeenCalledTimes(22), 10_000);
    expect(others).not.toHaveBeenCalled();
  });
});

test('Listening ends without an error while Redis is up, and also while it is away', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.close());
  const onError = vi.fn();
  const [first, second] = [1, 2].map(() => openWakeups({ url: redis.url, onError })) as [Wakeups, Wakeups];
  const woken = vi.fn();
  for (const node of [first, second]) node.listen('letters', woken);
  await first.announce('letters', 'a letter');
  await vi.waitFor(() => expect(woken).toHaveBeenCalled(), 10_000);
  await first.close();
  expect(onError).not.toHaveBeenCalled();

  await redis.stop();
  await vi.waitFor(() => expect(onError).toHaveBeenCalled(), 10_000);
  await second.close();
});
