import { beforeAll, describe, expect, test } from 'vitest';

import type { ReportedRejection } from '../../../../src/calls/trunks/sipRejection.ts';
import type { RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { redisSipRejections } from '../../../../src/infra/redis/nodes/sipRejections.ts';
import { useCluster } from '../support/servers.ts';

const at = (index: number) => new Date(Date.UTC(2026, 0, 1) + index).toISOString();
const rejection = (index: number, projectId?: string): ReportedRejection => ({
  at: at(index),
  reason: 'unknown_number',
  status: 404,
  source: '192.0.2.1:5060',
  from: '+886*******78',
  to: '100',
  callId: `${index}@pbx`,
  projectId,
});

describe('Refused calls', () => {
  const cluster = useCluster();
  let redis: RedisConnection;
  beforeAll(() => {
    [redis] = cluster.nodes;
  });

  test('are the latest of each project and of the installation, the newest first', async () => {
    const [node, other] = [redisSipRejections(redis), redisSipRejections(redis)];
    for (let index = 0; index < 1010; index += 10)
      await node.add(Array.from({ length: 10 }, (_, more) => rejection(index + more)));
    await node.add(Array.from({ length: 110 }, (_, index) => rejection(2000 + index, 'p')));
    await other.add([rejection(1999, 'q'), rejection(1998)]);
    const all = await other.list(undefined, 5000);
    expect([all.length, all[0]?.at, all[110]?.at, all[111]?.at]).toEqual([
      1000,
      at(2109),
      at(1999),
      at(1998),
    ]);
    const [newest, ...rest] = await node.list('p', 5000);
    expect([newest?.callId, rest.length]).toEqual(['2109@pbx', 99]);
    expect(newest).not.toHaveProperty('projectId');
    expect(await node.list('q', 1)).toMatchObject([{ callId: '1999@pbx' }]);
    expect(await node.list('r', 1)).toEqual([]);
  });
});
