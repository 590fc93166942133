import type { TrunkHealth } from './trunk.ts';

/** The latest observation of each trunk, published by its watcher for all nodes to read. */
export interface TrunkHealthStore {
  publish(trunkId: string, health: Omit<TrunkHealth, 'channelsInUse'>): Promise<void>;
  /** Null fields where there is no observation yet. */
  read(trunkIds: readonly string[]): Promise<Map<string, Omit<TrunkHealth, 'channelsInUse'>>>;
}
