import type { Trunk } from './trunk.ts';

/** A trunk's channels and its new calls per second, counted over all nodes. */
export interface TrunkSlots {
  /** Takes a channel, and a place in this second. @returns Milliseconds to wait; 0 when the channel was taken. */
  acquire(trunk: Trunk, callId: string, direction: 'outbound' | 'inbound'): Promise<number>;
  renew(trunkId: string, callId: string): Promise<void>;
  release(trunkId: string, callId: string): Promise<void>;
  inUse(trunkId: string): Promise<number>;
}

/** The channel that one leg holds, on one trunk at a time. */
export interface TrunkChannel {
  /** Gives up the one that is held, and takes one there. @returns How long to wait where there is none; 0 where it is held. */
  moveTo(trunk: Trunk): Promise<number>;
  renew(): Promise<void>;
  /** Never rejects: what is not freed runs out by itself. */
  release(): Promise<void>;
}

export interface TrunkChannelOptions {
  readonly slots: Pick<TrunkSlots, 'acquire' | 'renew' | 'release'>;
  /** Unlike any other leg's. */
  readonly holder: string;
  /** Where it has been taken already. */
  readonly trunkId: string | null;
  readonly onError: (error: unknown, what: string) => void;
}

export function createTrunkChannel({ slots, holder, trunkId, onError }: TrunkChannelOptions): TrunkChannel {
  let held = trunkId;
  const free = async () => {
    const freed = held;
    held = null;
    if (freed === null) return;
    try {
      await slots.release(freed, holder);
    } catch (error) {
      onError(error, 'a trunk’s channel was not freed');
    }
  };
  return {
    async moveTo(trunk) {
      if (trunk.id === held) return 0;
      await free();
      const waitMs = await slots.acquire(trunk, holder, 'outbound');
      if (waitMs === 0) held = trunk.id;
      return waitMs;
    },
    async renew() {
      if (held !== null) await slots.renew(held, holder);
    },
    release: free,
  };
}
