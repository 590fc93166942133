import { z } from 'zod';

import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';

/** A sample of a node's work since its previous sample. */
const nodeSample = z.object({
  at: z.iso.datetime(),
  calls: z.int().describe('Calls in progress.'),
  sessions: z.int().describe('Voice sessions in progress.'),
  queuedJobs: z.int().describe('Jobs that wait, over all nodes.'),
  delayMs: z.number().describe('The latest part of the node: its event loops, its audio packets, the queue.'),
  turns: z.int(),
  turnLatencyMs: z
    .object({ p50: z.number(), p95: z.number() })
    .nullable()
    .describe(
      'From the caller’s last voiced packet to the agent’s first, by a histogram; null without turns.',
    ),
  endedCalls: z.int(),
  failedCalls: z.int(),
  providerErrors: z.int(),
  failedWebhooks: z.int(),
  serverErrors: z.int().describe('HTTP responses from 500 on.'),
});

export const nodeReport = z
  .object({
    nodeId: z.string(),
    version: z.string(),
    roles: z.array(z.string()),
    startedAt: z.iso.datetime(),
    overloaded: z.array(z.string()).describe('Parts that are late: new calls are refused.'),
    isDraining: z.boolean(),
    samples: z.array(nodeSample).describe('Of the last hour, oldest first.'),
  })
  .meta({ id: 'NodeReport' });

export type NodeSample = z.infer<typeof nodeSample>;
export type NodeReport = z.infer<typeof nodeReport>;

/** Reports of the nodes that run. A report expires unless it is renewed. */
export interface NodeReports {
  publish(report: NodeReport, leaseMs: number): Promise<void>;
  remove(nodeId: string): Promise<void>;
  list(): Promise<readonly NodeReport[]>;
}

export interface NodeReportDeps {
  readonly reports: NodeReports;
  readonly node: Pick<NodeReport, 'nodeId' | 'version' | 'roles'>;
  readonly sample: () => Promise<NodeSample>;
  readonly state: () => Pick<NodeReport, 'overloaded' | 'isDraining'>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

const SAMPLE_EVERY_MS = 15_000;
/** The most samples of a report: one hour. */
const MAX_SAMPLES = 240;
/** The lease of a report, which survives three lost samples. */
const LEASE_MS = 4 * SAMPLE_EVERY_MS;

/**
 * Publishes what this node does, for the operator.
 *
 * @returns A function that stops it and removes the report.
 */
export function reportNode({ reports, node, sample, state, clock, onError }: NodeReportDeps) {
  const startedAt = new Date(clock.now()).toISOString();
  const samples: NodeSample[] = [];
  const publish = async () => {
    samples.push(await sample());
    if (samples.length > MAX_SAMPLES) samples.shift();
    await reports.publish({ ...node, startedAt, ...state(), samples }, LEASE_MS);
  };
  const stop = repeat(
    clock,
    SAMPLE_EVERY_MS,
    publish,
    (error) => onError(error, 'node report not published'),
    0,
  );
  return async (): Promise<void> => {
    await stop();
    await reports
      .remove(node.nodeId)
      .catch((error: unknown) => onError(error, 'node report not removed, it expires'));
  };
}
