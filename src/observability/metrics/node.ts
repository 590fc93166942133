import { Gauge, type Registry } from 'prom-client';

import type { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';

/** Jobs of a queue by their state. */
type Depth = Readonly<Record<'waiting' | 'delayed' | 'active', number>>;

export interface NodeSources {
  readonly queues: () => Promise<ReadonlyMap<string, Depth>>;
  /** Streams that this node talks on. */
  readonly talks: () => number;
  /** Absent on a node that carries no calls. */
  readonly calls?: {
    readonly admission: Pick<NodeCapacity, 'inUse' | 'limit'>;
    readonly mediaSessions: () => number;
    /** For RTP and RTCP together. */
    readonly ports: { readonly used: () => number; readonly limit: number };
  };
}

/** What a node is at when it is asked. A source that is away leaves its numbers out, and the others stand. */
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
  gauge('callway_talks_active', 'Streams of audio that this node talks on.', talks);
  if (!calls) return;
  const { admission, mediaSessions, ports } = calls;
  gauge('callway_call_places_used', 'Calls that count against this node’s limit.', () => admission.inUse);
  gauge('callway_call_places_limit', 'Calls that this node carries at most.', () => admission.limit);
  gauge('callway_media_sessions_active', 'Sessions of audio that are open.', mediaSessions);
  gauge('callway_media_ports_used', 'UDP ports that calls’ audio uses.', ports.used);
  gauge('callway_media_ports_limit', 'UDP ports that it may use.', () => ports.limit);
}
