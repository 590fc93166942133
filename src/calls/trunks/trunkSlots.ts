import type { Trunk } from './trunk.ts';

/**
 * Calls are placed 1 % slower than asked for, so that no second of a trunk and no minute of a campaign has one more: they arrive
 * a little unevenly, and a late call is made up for.
 */
export const CALL_SPACING = 1.01;

/** A trunk's channels and its new calls per second, counted over all nodes. Unreleased channels expire. */
export interface TrunkSlots {
  /** Takes a channel, and one of this second's calls. @returns Milliseconds to wait; 0 when the channel was taken. */
  acquire(trunk: Trunk, holder: string, direction: 'outbound' | 'inbound'): Promise<number>;
  renew(trunkId: string, holder: string): Promise<void>;
  release(trunkId: string, holder: string): Promise<void>;
  inUse(trunkId: string): Promise<number>;
}

export interface TrunkChannelOptions {
  readonly slots: TrunkSlots;
  /** The leg's id, unique per leg. */
  readonly holder: string;
  /** The trunk whose channel the leg holds already. */
  readonly trunkId: string | null;
  readonly onError: (error: unknown, what: string) => void;
}

/** The channel that one leg holds, on one trunk at a time. */
export class TrunkChannel {
  readonly #options: TrunkChannelOptions;
  #trunkId: string | null;

  constructor(options: TrunkChannelOptions) {
    this.#options = options;
    this.#trunkId = options.trunkId;
  }

  /** Releases the channel and takes one of this trunk. @returns Milliseconds to wait; 0 when the channel was taken. */
  async moveTo(trunk: Trunk): Promise<number> {
    if (trunk.id === this.#trunkId) return 0;
    await this.release();
    const { slots, holder } = this.#options;
    const waitMs = await slots.acquire(trunk, holder, 'outbound');
    if (waitMs === 0) this.#trunkId = trunk.id;
    return waitMs;
  }

  async renew(): Promise<void> {
    if (this.#trunkId !== null) await this.#options.slots.renew(this.#trunkId, this.#options.holder);
  }

  /** Releases the slot. It never rejects. */
  async release(): Promise<void> {
    const trunkId = this.#trunkId;
    this.#trunkId = null;
    if (trunkId === null) return;
    try {
      await this.#options.slots.release(trunkId, this.#options.holder);
    } catch (error) {
      this.#options.onError(error, 'trunk channel not released, it expires');
    }
  }
}
