import type { WidgetSessions } from '../../../agents/accounts/widgetToken.ts';
import type { SlotHolders } from '../../../calls/limits/slotHolders.ts';
import { CALL_SPACING, type TrunkSlots } from '../../../calls/trunks/trunkSlots.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { createScript } from '../connection/scripts.ts';

/** The slot of a call whose node has died expires after this time. */
const LEASE_MILLISECONDS = 60_000;
/** Retry interval while all slots are taken; longer than the wait for the next call of a usual rate. */
const BUSY_MILLISECONDS = 1_500;
/** The delay after a requested wait that does not slow down the calls per second. */
const LATE_MILLISECONDS = 1_000;
const UNKNOWN = -1;

/**
 * Server time in ms, since the clocks of nodes differ. Removes expired slots. A slot that expires was not released: its
 * node has failed, or could not renew it and still runs the call. Its count is not trusted any more.
 */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now) > 0 then redis.call('DEL', KEYS[2]) end`;

/**
 * KEYS: slots, trust, pace. ARGV: call, lease ms, slot limit, ms between two calls (0: unlimited), retry ms while full,
 * tolerated delay in ms, whether the stored holders follow, the stored holders.
 *
 * The trust key holds the id of the server that has counted every holder. It is missing where Redis was emptied or could
 * not be reached for the time of a lease, and names another server after a failover, which may lose the latest entries.
 * Then the count is unknown until the stored holders are given.
 *
 * The pace key holds when the next call may start and whether a call is waiting for that. Calls are spread evenly
 * over a second, as carriers count them. A call that waited and came late does not delay the calls after it.
 */
const TAKE = createScript(`${NOW}
local held = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not held then
  local info = redis.pcall('INFO', 'server')
  local server = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or 'unnamed'
  if ARGV[7] == '1' then
    for index = 8, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[index]) end
    redis.call('PEXPIRE', KEYS[1], ARGV[2] + 1000)
    redis.call('SET', KEYS[2], server, 'PX', ARGV[2])
  elseif redis.call('GET', KEYS[2]) ~= server then
    return ${UNKNOWN}
  end
  if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return tonumber(ARGV[5]) end
  local between = tonumber(ARGV[4])
  if between > 0 then
    local pace = redis.call('HMGET', KEYS[3], 'next', 'awaited')
    local next = tonumber(pace[1] or '0')
    if next > now then
      redis.call('HSET', KEYS[3], 'awaited', 1)
      return math.ceil(next - now)
    end
    local late = tonumber(ARGV[6])
    local from = pace[2] and now - next <= late and next or now
    redis.call('DEL', KEYS[3])
    redis.call('HSET', KEYS[3], 'next', tostring(from + between))
    redis.call('PEXPIRE', KEYS[3], math.ceil(between) + late)
  end
end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2] + 1000)
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 0`);

/** Puts back a slot that a failover or an outage has lost: its call still runs. */
const RENEW = createScript(`${NOW}
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2] + 1000)
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 0`);

const FREE = createScript(`return redis.call('ZREM', KEYS[1], ARGV[1])`);
const COUNT = createScript(`${NOW}
return redis.call('ZCARD', KEYS[1])`);

/** A limited number of slots for calls, counted over all nodes. A call keeps its slot by renewing the lease. */
export interface LeasedSlots {
  /**
   * Takes a slot. A call that has one keeps it.
   *
   * @param betweenMs - Minimum time between two calls; 0 is unlimited.
   * @param readHolders - Reads the holders from the database; called where Redis may have lost some.
   * @returns 0 when the slot was taken, else the time to wait in ms.
   */
  take(
    name: string,
    callId: string,
    limit: number,
    betweenMs: number,
    readHolders: () => Promise<readonly string[]>,
  ): Promise<number>;
  /** Takes the slot again if it was lost, above the limit too. */
  renew(name: string, callId: string): Promise<void>;
  free(name: string, callId: string): Promise<void>;
  inUse(name: string): Promise<number>;
}

/** A sorted set of calls by the expiry of their leases. @param name - With a hash tag, for Redis Cluster. */
export function redisLeasedSlots(redis: RedisConnection): LeasedSlots {
  const keysOf = (name: string) => [name, `${name}:trust`];
  return {
    async take(name, callId, limit, betweenMs, readHolders) {
      const keys = [...keysOf(name), `${name}:turns`];
      const args = [callId, LEASE_MILLISECONDS, limit, betweenMs, BUSY_MILLISECONDS, LATE_MILLISECONDS];
      const wait = Number(await TAKE(redis, keys, args));
      if (wait !== UNKNOWN) return wait;
      // Several nodes may do this at once: holders are only added.
      return Number(await TAKE(redis, keys, [...args, 1, ...(await readHolders())]));
    },
    async renew(name, callId) {
      await RENEW(redis, keysOf(name), [callId, LEASE_MILLISECONDS]);
    },
    async free(name, callId) {
      await FREE(redis, [name], [callId]);
    },
    inUse: async (name) => Number(await COUNT(redis, keysOf(name), [])),
  };
}

/** Widget sessions are not stored: after an outage of Redis they are counted again as their slots are renewed. */
const NO_STORED_HOLDERS = async () => [];

export function redisWidgetSessions(redis: RedisConnection): WidgetSessions {
  const slots = redisLeasedSlots(redis);
  return {
    async begin(tokenId, streamId, most) {
      return (await slots.take(keyOf(tokenId), streamId, most, 0, NO_STORED_HOLDERS)) === 0;
    },
    renew: (tokenId, streamId) => slots.renew(keyOf(tokenId), streamId),
    end: (tokenId, streamId) => slots.free(keyOf(tokenId), streamId),
  };
}

const keyOf = (tokenId: string) => `callway:widget:{${tokenId}}:talks`;

/** @param holders - Reads the holders from the stored calls, for the case that Redis has lost them. */
export function redisTrunkSlots(redis: RedisConnection, holders: SlotHolders): TrunkSlots {
  const places = redisLeasedSlots(redis);
  return {
    acquire({ id, projectId, maxChannels, callsPerSecond }, callId, direction) {
      const betweenMs = direction === 'inbound' ? 0 : (1000 / callsPerSecond) * CALL_SPACING;
      const readHolders = () => holders.ofTrunk(projectId, id);
      return places.take(nameOf(id), callId, maxChannels, betweenMs, readHolders);
    },
    renew: (trunkId, callId) => places.renew(nameOf(trunkId), callId),
    release: (trunkId, callId) => places.free(nameOf(trunkId), callId),
    inUse: (trunkId) => places.inUse(nameOf(trunkId)),
  };
}

const nameOf = (trunkId: string) => `callway:trunk:{${trunkId}}:channels`;
