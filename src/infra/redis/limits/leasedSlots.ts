import type { RedisConnection } from '../connection/connection.ts';
import { runScript } from '../connection/scripts.ts';

/** A place whose call has lost its node is free after this time. */
const LEASE_MILLISECONDS = 60_000;
/** When to ask again while every place is taken: nobody knows when a call will end. */
const BUSY_MILLISECONDS = 1_000;
/** Who was told to come at the next turn may be so late, and the turn after it is not put off for that. */
const LATE_MILLISECONDS = 1_000;

/** The server's time in ms, since the nodes' clocks differ; and places whose lease has run out are free. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)`;

/**
 * KEYS: places, pace. ARGV: call, lease ms, most places, ms between two calls (0 for those without a pace), wait while
 * busy, lateness that is made up for. The pace is when the next call may begin, and whether one waits for that: calls are
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

/** So many places for calls, counted over all nodes; who holds one keeps it by renewing. */
export interface LeasedSlots {
  /**
   * Takes a place; one that has a place keeps it.
   *
   * @param betweenMs - Least time between two that are taken; 0 is none.
   * @returns How long to wait where there is none, in ms; 0 where it was taken.
   */
  take(name: string, callId: string, most: number, betweenMs: number): Promise<number>;
  renew(name: string, callId: string): Promise<void>;
  free(name: string, callId: string): Promise<void>;
  inUse(name: string): Promise<number>;
}

/** The calls stand in a sorted set by the ends of their leases. @param name - With a hash tag, for Redis Cluster. */
export function redisLeasedSlots(redis: RedisConnection): LeasedSlots {
  return {
    take(name, callId, most, betweenMs) {
      const args = [callId, LEASE_MILLISECONDS, most, betweenMs, BUSY_MILLISECONDS, LATE_MILLISECONDS];
      return runScript(redis, TAKE, [name, `${name}:turns`], args);
    },
    async renew(name, callId) {
      await runScript(redis, RENEW, [name], [callId, LEASE_MILLISECONDS]);
    },
    async free(name, callId) {
      await runScript(redis, FREE, [name], [callId]);
    },
    inUse: (name) => runScript(redis, COUNT, [name], []),
  };
}
