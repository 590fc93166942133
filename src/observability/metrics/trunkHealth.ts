import { Gauge, type Registry } from 'prom-client';

import type { TrunkHealthStore } from '../../calls/trunks/trunkHealth.ts';

type Health = Parameters<TrunkHealthStore['publish']>[1];

/** A monitored trunk is published several times within this time; another node monitors it after that. */
const FORGOTTEN_AFTER_MS = 60_000;

/**
 * Adds gauges to the trunk health that this node publishes. One node at a time monitors a trunk, so the sum over all
 * nodes counts each once.
 */
export function withTrunkMetrics(
  registry: Registry,
  board: TrunkHealthStore,
  nowMs: () => number,
): TrunkHealthStore {
  const seen = new Map<string, { readonly health: Health; readonly atMs: number }>();
  const gauge = (name: string, help: string, value: (health: Health) => boolean | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['trunk'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [trunk, { health, atMs }] of seen) {
          const is = value(health);
          if (nowMs() - atMs > FORGOTTEN_AFTER_MS) seen.delete(trunk);
          else if (is !== null) this.set({ trunk }, is ? 1 : 0);
        }
      },
    });
  gauge('callway_trunk_reachable', '1 while a trunk answers OPTIONS, else 0.', ({ reachable }) => reachable);
  gauge('callway_trunk_registered', '1 while a trunk is registered, else 0.', ({ registered }) => registered);
  return {
    read: (trunkIds) => board.read(trunkIds),
    publish(trunkId, health) {
      seen.set(trunkId, { health, atMs: nowMs() });
      return board.publish(trunkId, health);
    },
  };
}
