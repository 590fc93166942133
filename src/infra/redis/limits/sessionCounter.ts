import type { SessionCounter } from '../../../agents/accounts/dayQuotas.ts';
import type { Clock } from '../../../base/values/clock.ts';
import { DAY_MS } from '../../../base/values/clock.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';
import { createScript } from '../connection/scripts.ts';

const UNKNOWN = -1;

/**
 * KEYS: count. ARGV: limit, lifetime ms, the stored count where it was read. Returns 1 when one more is counted, 0 at the
 * limit.
 */
const TAKE = createScript(`
if ARGV[3] then redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2], 'NX') end
local count = redis.call('GET', KEYS[1])
if not count then return ${UNKNOWN} end
if tonumber(count) >= tonumber(ARGV[1]) then return 0 end
redis.call('INCR', KEYS[1])
return 1`);

/**
 * Counts in Redis over all nodes.
 *
 * @param readStored - Today's count of a project in the database, some seconds late. Read where Redis has none: before the
 *   first session of a day, and when Redis has lost it.
 */
export function redisSessionCounter(
  redis: RedisConnection,
  clock: Clock,
  readStored: (projectId: string) => Promise<number>,
): SessionCounter {
  const nameOf = (projectId: string) =>
    `callway:day:${Math.floor(clock.now() / DAY_MS)}:sessions:${projectId}`;
  return {
    async take(projectId, limit) {
      const keys = [nameOf(projectId)];
      const args = [limit, 2 * DAY_MS];
      let taken = await TAKE(redis, keys, args);
      if (taken === UNKNOWN) taken = await TAKE(redis, keys, [...args, await readStored(projectId)]);
      if (taken === 1) return { allowed: true };
      return { allowed: false, retryAfterSeconds: Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000) };
    },
    async read(projectId) {
      const count = await orUnavailable(redis.client.get(nameOf(projectId)));
      return count === null ? await readStored(projectId) : Number(count);
    },
  };
}
