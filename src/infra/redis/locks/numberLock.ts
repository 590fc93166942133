import type { NumberLock } from '../../../calls/setup/numberLock.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { runScript } from '../connection/scripts.ts';

/** A lock whose call has lost its node is free after this time. */
const LEASE_MILLISECONDS = 60_000;
/** A lock whose call was never kept is free after this time, since its node died before; longer than a sweep's interval. */
const FIRST_LEASE_MILLISECONDS = 15_000;
/** A number that nobody called for so long begins to count its tokens anew; no holder of old is left by then. */
const TOKEN_MILLISECONDS = 7 * 24 * 3_600_000;

/** KEYS: lock, token. ARGV: call, lease ms, token ms. Returns the token, or 0 while another call holds the lock. */
const TAKE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local token = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return token`;

const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`;
const FREE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** A lease in Redis for each project and number. */
export function redisNumberLock(redis: RedisConnection): NumberLock {
  return {
    async acquire(projectId, toNumber, callId) {
      const name = nameOf(projectId, toNumber);
      const args = [callId, FIRST_LEASE_MILLISECONDS, TOKEN_MILLISECONDS];
      const token = await runScript(redis, TAKE, [name, `${name}:token`], args);
      return token === 0 ? undefined : token;
    },
    async renew(projectId, toNumber, callId) {
      return (
        (await runScript(redis, RENEW, [nameOf(projectId, toNumber)], [callId, LEASE_MILLISECONDS])) === 1
      );
    },
    async release(projectId, toNumber, callId) {
      await runScript(redis, FREE, [nameOf(projectId, toNumber)], [callId]);
    },
  };
}

const nameOf = (projectId: string, toNumber: string) => `callway:number:{${projectId}:${toNumber}}`;
