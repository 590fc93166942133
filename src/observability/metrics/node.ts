import { Gauge, type Registry } from 'prom-client';

import type { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';

/** Number of jobs by state. */
type Depth = Readonly<Record<'waiting' | 'delayed' | 'active', number>>;

export interface NodeLoad {
  readonly queues: () => Promise<ReadonlyMap<string, Depth>>;
  /** Number of voice sessions on this node. */
  readonly sessions: () => number;
}

export interface CallLoad {
  readonly capacity: Pick<NodeCapacity, 'inUse' | 'limit'>;
  readonly mediaSessions: () => number;
  /** RTP and RTCP ports. */
  readonly ports: { readonly used: () => number; readonly limit: number };
}

/** Gauges of a node's queues and voice sessions. Redis may be unavailable during a scrape: no queue values then. */
export function registerNodeMetrics(registry: Registry, { queues, sessions }: NodeLoad): void {
  new Gauge({
    name: 'callway_queue_jobs',
    help: 'Jobs of each queue over all nodes, by state.',
    labelNames: ['queue', 'state'],
    registers: [registry],
    async collect() {
      this.reset();
      const depths = await queues().catch(() => new Map<string, Depth>());
      for (const [queue, depth] of depths)
        for (const [state, jobs] of Object.entries(depth)) this.set({ queue, state }, jobs);
    },
  });
  gauge(registry, 'callway_talks_active', 'Voice sessions on this node.', sessions);
}

/** Gauges of a node with the role `media`. */
export function registerCallLoadMetrics(
  registry: Registry,
  { capacity, mediaSessions, ports }: CallLoad,
): void {
  const used = 'Calls that count against this node’s limit.';
  gauge(registry, 'callway_call_places_used', used, () => capacity.inUse);
  gauge(registry, 'callway_call_places_limit', 'Maximum number of calls on this node.', () => capacity.limit);
  gauge(registry, 'callway_media_sessions_active', 'Open media sessions.', mediaSessions);
  gauge(registry, 'callway_media_ports_used', 'UDP ports in use for media.', ports.used);
  gauge(registry, 'callway_media_ports_limit', 'UDP ports available for media.', () => ports.limit);
}

function gauge(registry: Registry, name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}
