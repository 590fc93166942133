import { beforeAll, describe, expect, test } from 'vitest';

import type { NodeReport } from '../../../../src/calls/nodes/nodeReport.ts';
import type { RedisConnection } from '../../../../src/infra/redis/connection/connection.ts';
import { redisNodeReports } from '../../../../src/infra/redis/nodes/leasedEntries.ts';
import { useCluster } from '../support/servers.ts';

const SAMPLE = {
  at: '2026-01-01T00:00:00.000Z',
  calls: 1,
  sessions: 1,
  queuedJobs: 0,
  delayMs: 2,
  turns: 0,
  turnLatencyMs: null,
  endedCalls: 0,
  failedCalls: 0,
  providerErrors: 0,
  failedWebhooks: 0,
  serverErrors: 0,
};

const reportOf = (nodeId: string, samples = [SAMPLE]): NodeReport => ({
  nodeId,
  version: '1.0.0',
  roles: ['api'],
  startedAt: SAMPLE.at,
  overloaded: ['rtp'],
  isDraining: false,
  samples,
});

describe('Node reports', () => {
  const cluster = useCluster();
  let redis: RedisConnection;
  beforeAll(() => {
    [redis] = cluster.nodes;
  });

  test('are those of the nodes that run', async () => {
    const reports = redisNodeReports(redis);
    await reports.publish(reportOf('a', []), 60_000);
    await reports.publish(reportOf('a'), 60_000);
    await reports.publish(reportOf('b'), 60_000);
    expect(await reports.list()).toEqual([reportOf('a'), reportOf('b')]);
    await Promise.all(['a', 'b'].map((nodeId) => reports.remove(nodeId)));
    expect(await reports.list()).toEqual([]);
  });
});
