import type { TrunkHealth } from './trunk.ts';
import type { TrunkSlots } from './trunkSlots.ts';

type CheckResult = Omit<TrunkHealth, 'channelsInUse'> & {
  /** URIs of the proxies that calls over the registration go by, the nearest first. @see RFC 3608 */
  readonly serviceRoute: readonly string[];
};

/** The latest health check of each trunk, published by the node that watches it and readable by all. */
export interface TrunkHealthStore {
  publish(trunkId: string, health: CheckResult): Promise<void>;
  /** Reads the last results. Their fields are null before the first check. */
  read(trunkIds: readonly string[]): Promise<Map<string, CheckResult>>;
}

export const UNKNOWN_HEALTH: CheckResult = {
  reachable: null,
  registered: null,
  lastOptionsMs: null,
  error: null,
  serviceRoute: [],
};

/** Health checks and channels in use of these trunks. */
export async function readTrunkHealth(
  health: TrunkHealthStore,
  slots: TrunkSlots,
  trunkIds: readonly string[],
): Promise<Map<string, TrunkHealth>> {
  const [checks, channels] = await Promise.all([
    health.read(trunkIds),
    Promise.all(trunkIds.map((id) => slots.inUse(id))),
  ]);
  return new Map(
    trunkIds.map((id, index) => {
      const { serviceRoute: _, ...check } = checks.get(id) ?? UNKNOWN_HEALTH;
      return [id, { ...check, channelsInUse: channels[index] ?? 0 }];
    }),
  );
}
