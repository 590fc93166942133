import { type NodeReports, nodeReport } from '../../../calls/nodes/nodeReport.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { leasedEntries } from './leasedEntries.ts';

export function redisNodeReports(redis: RedisConnection): NodeReports {
  const entries = leasedEntries(redis, 'callway:{node-reports}', nodeReport);
  return {
    publish: (report, leaseMs) => entries.put(report.nodeId, report, leaseMs),
    remove: entries.remove,
    list: entries.list,
  };
}
