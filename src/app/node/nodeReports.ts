import { packageVersion } from '../../base/packagePath.ts';
import { reportNode } from '../../calls/nodes/nodeReport.ts';
import { redisNodeReports } from '../../infra/redis/nodes/leasedEntries.ts';
import { createNodeSampler } from '../../observability/metrics/nodeSampler.ts';
import type { NodeContext } from './node.ts';

/** Publishes what this node does until it stops. */
export function startNodeReports(node: NodeContext): void {
  const { config, nodeId, redis, clock, overload, metrics, lifecycle, isDraining, onError } = node;
  const stop = reportNode({
    reports: redisNodeReports(redis),
    node: { nodeId, version: packageVersion(), roles: [...config.ROLES] },
    sample: createNodeSampler(metrics.registry, () => clock.now()),
    state: () => ({ overloaded: [...overload.lateParts], isDraining: isDraining() }),
    clock,
    onError,
  });
  lifecycle.onClose(stop);
}
