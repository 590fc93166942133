import { readFileSync } from 'node:fs';
import { z } from 'zod';

import { packagePath } from '../../base/packagePath.ts';
import { reportNode } from '../../calls/nodes/nodeReport.ts';
import { redisNodeReports } from '../../infra/redis/nodes/nodeReports.ts';
import { createNodeSampler } from '../../observability/metrics/nodeSampler.ts';
import type { NodeContext } from './node.ts';

const PACKAGE = packagePath('package.json');

/** Publishes what this node does until it stops. */
export function startNodeReports(node: NodeContext): void {
  const { config, nodeId, redis, clock, overload, metrics, lifecycle, isDraining, onError } = node;
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(PACKAGE, 'utf8')));
  const stop = reportNode({
    reports: redisNodeReports(redis),
    node: { nodeId, version, roles: [...config.ROLES] },
    sample: createNodeSampler(metrics.registry, () => clock.now()),
    state: () => ({ overloaded: [...overload.lateParts], isDraining: isDraining() }),
    clock,
    onError,
  });
  lifecycle.onClose(stop);
}
