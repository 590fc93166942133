import type { SlotHolders } from '../../../calls/limits/slotHolders.ts';
import type { TrunkSlots } from '../../../calls/trunks/trunkSlots.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { redisLeasedSlots } from './leasedSlots.ts';

/** @param holders - Reads the holders from the stored calls, for the case that Redis has lost them. */
export function redisTrunkSlots(redis: RedisConnection, holders: SlotHolders): TrunkSlots {
  const places = redisLeasedSlots(redis);
  return {
    acquire({ id, projectId, maxChannels, callsPerSecond }, callId, direction) {
      const betweenMs = direction === 'inbound' ? 0 : 1000 / callsPerSecond;
      const readHolders = () => holders.ofTrunk(projectId, id);
      return places.take(nameOf(id), callId, maxChannels, betweenMs, readHolders);
    },
    renew: (trunkId, callId) => places.renew(nameOf(trunkId), callId),
    release: (trunkId, callId) => places.free(nameOf(trunkId), callId),
    inUse: (trunkId) => places.inUse(nameOf(trunkId)),
  };
}

const nameOf = (trunkId: string) => `callway:trunk:{${trunkId}}:channels`;
