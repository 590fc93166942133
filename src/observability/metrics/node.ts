import { Gauge, type Registry } from 'prom-client';

import type { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';
import type { OverloadMonitor } from '../../calls/limits/overloadMonitor.ts';

/** Number of jobs by state. */
type Depth = Readonly<Record<'waiting' | 'delayed' | 'active', number>>;

export interface NodeLoad {
  readonly queues: () => Promise<ReadonlyMap<string, Depth>>;
  /** Number of voice sessions on this node. */
  readonly sessions: () => number;
  readonly overload: OverloadMonitor;
}

export interface CallLoad {
  readonly capacity: NodeCapacity;
  readonly mediaSessions: () => number;
  /** RTP and RTCP ports. */
  readonly ports: { readonly used: () => number; readonly limit: number };
}

/** Gauges of a node's queues and voice sessions. Redis may be unavailable during a scrape: no queue values then. */
export function registerNodeMetrics(registry: Registry, { queues, sessions, overload }: NodeLoad): void {
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
  registerOverloadMetrics(registry, overload);
}

function registerOverloadMetrics(registry: Registry, overload: NodeLoad['overload']): void {
  const labelNames = ['part'];
  const registers = [registry];
  new Gauge({
    name: 'callway_node_delay_seconds',
    help: 'How late a part of this node was within the last second: its event loop, its audio packets, the call queue.',
    ...{ labelNames, registers },
    collect() {
      for (const [part, { delayMs }] of overload.parts) this.set({ part }, delayMs / 1000);
    },
  });
  new Gauge({
    name: 'callway_node_overloaded',
    help: '1 while new calls are refused because this part of the node is late.',
    ...{ labelNames, registers },
    collect() {
      for (const [part, { isLate }] of overload.parts) this.set({ part }, isLate ? 1 : 0);
    },
  });
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
