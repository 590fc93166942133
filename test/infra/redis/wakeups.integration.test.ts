import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { openWakeups, type Wakeups } from '../../../src/infra/redis/wakeups.ts';
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
