import type { TrunkSlots } from '../calls/coordination.ts';
import type { RedisConnection } from './redis.ts';
import { runScript } from './scripts.ts';

/** A channel whose call has lost its node is free after this time. */
const LEASE_MILLISECONDS = 60_000;
/** When to ask again while every channel is taken: nobody knows when a call will end. */
const BUSY_MILLISECONDS = 1_000;
/** Who was told to come at a trunk's next turn may be so late, and the turn after it is not put off for that. */
const LATE_MILLISECONDS = 1_000;

/** The server's time in ms, since the nodes' clocks differ; and channels whose lease has run out are free. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)`;

/**
 * KEYS: channels, pace. ARGV: call, lease ms, most channels, ms between two calls (0 for inbound ones), wait while busy,
 * lateness that is made up for. The pace is when the next call may begin, and whether one waits for that: calls are
 * spread evenly over a second, as carriers count them, and one that waited and came late costs the others nothing.
 */
const TAKE = `${NOW}
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held then
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return tonumber(ARGV[5]) end
  local between = tonumber(ARGV[4])
  if between > 0 then
    local pace = redis.call('HMGET', KEYS[2], 'next', 'awaited')
    local next = tonumber(pace[1] or '0')
    if next > now then
      redis.call('HSET', KEYS[2], 'awaited', 1)
      return math.ceil(next - now)
    end
    local late = tonumber(ARGV[6])
    local from = pace[2] and now - next <= late and next or now
    redis.call('DEL', KEYS[2])
    redis.call('HSET', KEYS[2], 'next', tostring(from + between))
    redis.call('PEXPIRE', KEYS[2], math.ceil(between) + late)
  end
end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2] + 1000)
return 0`;

const RENEW = `${NOW}
if redis.call('ZADD', KEYS[1], 'XX', 'CH', now + ARGV[2], ARGV[1]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2] + 1000)
end
return 0`;

const FREE = `return redis.call('ZREM', KEYS[1], ARGV[1])`;
const COUNT = `${NOW}
return redis.call('ZCARD', KEYS[1])`;

/** Each trunk's calls stand in a sorted set by the ends of their leases. */
export function redisTrunkSlots(redis: RedisConnection): TrunkSlots {
  return {
    take({ id, maxChannels, callsPerSecond }, callId, direction) {
      const betweenMs = direction === 'inbound' ? 0 : 1000 / callsPerSecond;
      const name = nameOf(id);
      const args = [callId, LEASE_MILLISECONDS, maxChannels, betweenMs, BUSY_MILLISECONDS, LATE_MILLISECONDS];
      return runScript(redis, TAKE, [name, `${name}:turns`], args);
    },
    async renew(trunkId, callId) {
      await runScript(redis, RENEW, [nameOf(trunkId)], [callId, LEASE_MILLISECONDS]);
    },
    async free(trunkId, callId) {
      await runScript(redis, FREE, [nameOf(trunkId)], [callId]);
    },
    inUse: (trunkId) => runScript(redis, COUNT, [nameOf(trunkId)], []),
  };
}

const nameOf = (trunkId: string) => `callway:trunk:{${trunkId}}:channels`;
