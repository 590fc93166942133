import type { Call } from '../call.ts';
import { callPolicy } from '../callPolicy.ts';
import type { NumberLock } from '../setup/numberLock.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { TrunkChannel, type TrunkSlots } from '../trunks/trunkSlots.ts';
import type { CallLimiter } from './callLimiter.ts';

export interface CallPlacesDeps {
  readonly lock: NumberLock;
  readonly slots: TrunkSlots;
  readonly limiter: CallLimiter;
  readonly onError: (error: unknown, what: string) => void;
}

/** The places of a call that is about to start. */
export type Placed = Pick<Call, 'id' | 'projectId' | 'direction' | 'toNumber' | 'trunkId'>;

/**
 * The places that calls hold over all nodes: the lock of an outbound call's number, channels of trunks, and slots of the
 * project. Each expires unless it is renewed.
 */
export class CallPlaces {
  readonly #deps: CallPlacesDeps;

  constructor(deps: CallPlacesDeps) {
    this.#deps = deps;
  }

  /** @see CallLimiter.startCall */
  takeSlot(call: Placed): Promise<'started' | 'full' | 'refused'> {
    return this.#deps.limiter.startCall(call);
  }

  /** Takes the channel of an inbound call. @returns False when the trunk has none left. */
  async takeChannel(trunk: Trunk, callId: string): Promise<boolean> {
    return (await this.#deps.slots.acquire(trunk, callId, 'inbound')) === 0;
  }

  /** Opens the channel of one leg. @param trunkId - The trunk whose channel the leg holds already. */
  openChannel(
    holder: string,
    trunkId: string | null,
    onError: (error: unknown, what: string) => void,
  ): TrunkChannel {
    return new TrunkChannel({ slots: this.#deps.slots, onError, holder, trunkId });
  }

  /** Renews the places of a running call. @param channels - Those of its legs. */
  async renew(call: Call, channels: readonly TrunkChannel[]): Promise<void> {
    const { direction, projectId, toNumber, id } = call;
    const { lock, limiter } = this.#deps;
    const { countsUsage } = callPolicy(call);
    if (countsUsage && direction === 'outbound' && !(await lock.renew(projectId, toNumber, id))) {
      // Lost with a failover of Redis.
      await lock.acquire(projectId, toNumber, id);
    }
    for (const channel of channels) await channel.renew();
    if (countsUsage) await limiter.renewSlot(call);
  }

  /** Releases all places of a call. Idempotent; it never rejects. */
  async release({ id, projectId, toNumber, trunkId, direction }: Placed): Promise<void> {
    const { lock, slots, limiter, onError } = this.#deps;
    const outcomes = await Promise.allSettled([
      direction === 'outbound' ? lock.release(projectId, toNumber, id) : undefined,
      trunkId === null ? undefined : slots.release(trunkId, id),
      limiter.endCall({ id, projectId }),
    ]);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected')
        onError(outcome.reason, 'lock or slot of a call not released, it expires');
    }
  }
}
