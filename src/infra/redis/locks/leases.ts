import type { Leases } from '../../../calls/nodes/leases.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { runScript } from '../connection/scripts.ts';

const HOLD = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0`;
const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** @param holder - This life of this node; another life of it is another holder. */
export function redisLeases(redis: RedisConnection, holder: string): Leases {
  return {
    async hold(name, leaseMs) {
      return (await runScript(redis, HOLD, [nameOf(name)], [holder, leaseMs])) === 1;
    },
    async release(name) {
      await runScript(redis, RELEASE, [nameOf(name)], [holder]);
    },
  };
}

const nameOf = (name: string) => `callway:lease:{${name}}`;
