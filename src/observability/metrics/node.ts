import { Gauge, type Registry } from 'prom-client';

import type { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';

/** Number of jobs by state. */
type Depth = Readonly<Record<'waiting' | 'delayed' | 'active', number>>;

export interface NodeSources {
  readonly queues: () => Promise<ReadonlyMap<string, Depth>>;
  /** Number of voice sessions on this node. */
  readonly talks: () => number;
  /** Undefined on a node without the role `media`. */
  readonly calls?: {
    readonly admission: Pick<NodeCapacity, 'inUse' | 'limit'>;
    readonly mediaSessions: () => number;
    /** RTP and RTCP ports. */
    readonly ports: { readonly used: () => number; readonly limit: number };
  };
}

/** Gauges of the node's current load. A source that fails leaves its values out; the others stay. */
export function registerNodeMetrics(registry: Registry, { queues, talks, calls }: NodeSources): void {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
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
  gauge('callway_talks_active', 'Voice sessions on this node.', talks);
  if (!calls) return;
  const { admission, mediaSessions, ports } = calls;
  gauge('callway_call_places_used', 'Calls that count against this node’s limit.', () => admission.inUse);
  gauge('callway_call_places_limit', 'Maximum number of calls on this node.', () => admission.limit);
  gauge('callway_media_sessions_active', 'Open media sessions.', mediaSessions);
  gauge('callway_media_ports_used', 'UDP ports in use for media.', ports.used);
  gauge('callway_media_ports_limit', 'UDP ports available for media.', () => ports.limit);
}
