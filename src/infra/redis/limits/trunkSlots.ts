import type { TrunkSlots } from '../../../calls/trunks/trunkSlots.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { redisLeasedSlots } from './leasedSlots.ts';

export function redisTrunkSlots(redis: RedisConnection): TrunkSlots {
  const places = redisLeasedSlots(redis);
  return {
    acquire({ id, maxChannels, callsPerSecond }, callId, direction) {
      const betweenMs = direction === 'inbound' ? 0 : 1000 / callsPerSecond;
      return places.take(nameOf(id), callId, maxChannels, betweenMs);
    },
    renew: (trunkId, callId) => places.renew(nameOf(trunkId), callId),
    release: (trunkId, callId) => places.free(nameOf(trunkId), callId),
    inUse: (trunkId) => places.inUse(nameOf(trunkId)),
  };
}

const nameOf = (trunkId: string) => `callway:trunk:{${trunkId}}:channels`;
