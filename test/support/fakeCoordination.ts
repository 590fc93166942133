import type { Leases } from '../../src/calls/nodes/leases.ts';
import type { NodeBus, NodeMessage } from '../../src/calls/nodes/nodeBus.ts';
import type { TrunkHealthStore } from '../../src/calls/trunks/trunkHealth.ts';

/** Leases of several nodes in one map. */
export function createFakeLeases(): {
  of(node: string): Leases;
  readonly holders: ReadonlyMap<string, string>;
  /** Expires the leases of a failed node. */
  expire(node: string): void;
} {
  const holders = new Map<string, string>();
  return {
    holders,
    of: (node) => ({
      async hold(name) {
        const holder = holders.get(name) ?? node;
        holders.set(name, holder);
        return holder === node;
      },
      async release(name) {
        if (holders.get(name) === node) holders.delete(name);
      },
    }),
    expire(node) {
      for (const [name, holder] of holders) if (holder === node) holders.delete(name);
    },
  };
}

export function createFakeNodeBus(): NodeBus {
  const listeners = new Set<(message: NodeMessage) => void>();
  return {
    async publish(message) {
      for (const listener of listeners) listener(message);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

type Health = Parameters<TrunkHealthStore['publish']>[1];

export function createFakeTrunkHealth(): TrunkHealthStore & { readonly shown: ReadonlyMap<string, Health> } {
  const shown = new Map<string, Health>();
  return {
    shown,
    async publish(trunkId, health) {
      shown.set(trunkId, health);
    },
    async read(ids) {
      return new Map([...shown].filter(([id]) => ids.includes(id)));
    },
  };
}
