import type { Leases } from '../../../calls/nodes/leases.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { createScript, releaseLock } from '../connection/scripts.ts';

const HOLD = createScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0`);

/**
 * Leases by name: a key with the holder's id and a lifetime.
 *
 * @param holder - Identifies this run of this node; a restarted node is another holder.
 */
export function redisLeases(redis: RedisConnection, holder: string): Leases {
  return {
    async hold(name, leaseMs) {
      return (await HOLD(redis, [nameOf(name)], [holder, leaseMs])) === 1;
    },
    async release(name) {
      await releaseLock(redis, [nameOf(name)], [holder]);
    },
  };
}

const nameOf = (name: string) => `callway:lease:{${name}}`;
