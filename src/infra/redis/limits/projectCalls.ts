import { z } from 'zod';

import type { ProjectUsage } from '../../../calls/limits/projectUsage.ts';
import type { SlotHolders } from '../../../calls/limits/slotHolders.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { createScript } from '../connection/scripts.ts';
import { redisLeasedSlots } from './leasedSlots.ts';

/** The lifetime of counts, longer than the longest window. */
const KEPT_MILLISECONDS = 2 * 3_600_000;
const NONE = -1;

/**
 * Counts a call. A hash has each window's index and count. A count of an older window is 0.
 *
 * KEYS: counts. ARGV: calls a minute, calls an hour (-1: unlimited), lifetime ms. Returns 0 when the call is counted, else
 * the seconds to wait.
 */
const COUNT_CALL = createScript(`
local now = tonumber(redis.call('TIME')[1])
local lengths = { minute = 60, hour = 3600 }
local function window(name) return math.floor(now / lengths[name]) end
local function counted(name)
  local kept = redis.call('HMGET', KEYS[1], name, name .. '_count')
  return tonumber(kept[1]) == window(name) and tonumber(kept[2]) or 0
end
for index, name in ipairs({ 'minute', 'hour' }) do
  local most = tonumber(ARGV[index])
  if most >= 0 and counted(name) >= most then return (window(name) + 1) * lengths[name] - now end
end
for name in pairs(lengths) do
  redis.call('HSET', KEYS[1], name .. '_count', counted(name) + 1, name, window(name))
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 0`);

/** Fixed windows by the server's clock, since the clocks of nodes differ. */
export function redisProjectCalls(redis: RedisConnection, holders: SlotHolders): ProjectUsage {
  const places = redisLeasedSlots(redis);
  return {
    async countCall(projectId, { perMinute, perHour }) {
      const args = [perMinute ?? NONE, perHour ?? NONE, KEPT_MILLISECONDS];
      const waitSeconds = z.int().parse(await COUNT_CALL(redis, [countsOf(projectId)], args));
      return waitSeconds === 0 ? undefined : waitSeconds;
    },
    async acquireSlot(projectId, callId, most) {
      const readHolders = () => holders.ofProject(projectId);
      return (await places.take(placesOf(projectId), callId, most, 0, readHolders)) === 0;
    },
    renewSlot: (projectId, callId) => places.renew(placesOf(projectId), callId),
    releaseSlot: (projectId, callId) => places.free(placesOf(projectId), callId),
  };
}

const countsOf = (projectId: string) => `callway:project:{${projectId}}:counts`;
const placesOf = (projectId: string) => `callway:project:{${projectId}}:calls`;
