import { z } from 'zod';

import type { DailyUsage, ProjectUsage } from '../../../calls/limits/projectUsage.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { createScript } from '../connection/scripts.ts';
import { redisLeasedSlots } from './leasedSlots.ts';

/** Longer than a day's counts are read; the hash expires when none of its windows is current. */
const KEPT_MILLISECONDS = 2 * 86_400_000;
const NONE = -1;

/** One hash holds each window's index and count. A count of an older window is 0. */
const WINDOWS = `
local now = tonumber(redis.call('TIME')[1])
local lengths = { minute = 60, hour = 3600, day = 86400, spending = 86400 }
local function window(name) return math.floor(now / lengths[name]) end
local function counted(name)
  local kept = redis.call('HMGET', KEYS[1], name, name .. '_count')
  return tonumber(kept[1]) == window(name) and tonumber(kept[2]) or 0
end
local function add(name, more)
  local sum = counted(name) + more
  redis.call('HSET', KEYS[1], name, window(name), name .. '_count', sum)
  return sum
end`;

/**
 * KEYS: counts. ARGV: calls a minute, calls an hour, talk ms a day, spending in millionths a day (-1: unlimited),
 * lifetime ms.
 */
const countCall = createScript(`${WINDOWS}
for index, name in ipairs({ 'minute', 'hour', 'day', 'spending' }) do
  local most = tonumber(ARGV[index])
  if most >= 0 and counted(name) >= most then return { name, (window(name) + 1) * lengths[name] - now } end
end
add('minute', 1)
add('hour', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return {}`);

/** KEYS: counts. ARGV: talk ms, spending in millionths, lifetime ms. */
const addUse = createScript(`${WINDOWS}
local talked, spent = tonumber(ARGV[1]), tonumber(ARGV[2])
if talked == 0 and spent == 0 then return { counted('day'), counted('spending') } end
local sums = { add('day', talked), add('spending', spent) }
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return sums`);

const over = z.union([z.tuple([z.enum(['minute', 'hour', 'day', 'spending']), z.int()]), z.tuple([])]);
const sums = z.tuple([z.int(), z.int()]);
const WHAT = { minute: 'rate', hour: 'rate', day: 'minutes', spending: 'spending' } as const;

/** Fixed windows by the server's clock, since the clocks of nodes differ. */
export function redisProjectCalls(redis: RedisConnection): ProjectUsage {
  const places = redisLeasedSlots(redis);
  return {
    async countCall(projectId, { perMinute, perHour, talkedMsPerDay, spentMillionthsPerDay }) {
      const most = [perMinute, perHour, talkedMsPerDay, spentMillionthsPerDay].map((limit) => limit ?? NONE);
      const answer = await countCall(redis, [countsOf(projectId)], [...most, KEPT_MILLISECONDS]);
      const [window, retryAfterSeconds] = over.parse(answer);
      if (window === undefined || retryAfterSeconds === undefined) return undefined;
      return { what: WHAT[window], retryAfterSeconds };
    },
    async addUsage(projectId, more): Promise<DailyUsage> {
      const args = [Math.round(more.talkTimeMs), Math.round(more.spentMillionths), KEPT_MILLISECONDS];
      const [talkedMs, spentMillionths] = sums.parse(await addUse(redis, [countsOf(projectId)], args));
      return { talkTimeMs: talkedMs, spentMillionths };
    },
    acquireSlot: async (projectId, callId, most) =>
      (await places.take(placesOf(projectId), callId, most, 0)) === 0,
    renewSlot: (projectId, callId) => places.renew(placesOf(projectId), callId),
    releaseSlot: (projectId, callId) => places.free(placesOf(projectId), callId),
  };
}

const countsOf = (projectId: string) => `callway:project:{${projectId}}:counts`;
const placesOf = (projectId: string) => `callway:project:{${projectId}}:calls`;
