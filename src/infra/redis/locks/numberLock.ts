import { createHash } from 'node:crypto';

import type { NumberLock } from '../../../calls/setup/numberLock.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { createScript, releaseLock, renewLock } from '../connection/scripts.ts';

/** The lock of a call whose node has died expires after this time. */
const LEASE_MILLISECONDS = 60_000;
/** Lease of a call that is not stored yet. Longer than the sweep interval. */
const FIRST_LEASE_MILLISECONDS = 15_000;
/** The token counter of a number that was not called for this long is reset; no holder is left by then. */
const TOKEN_MILLISECONDS = 7 * 24 * 3_600_000;

/**
 * KEYS: lock, token. ARGV: call, lease ms, token ms. Returns the fencing token, or 0 while another call holds the
 * lock.
 */
const TAKE = createScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local token = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return token`);

/** Locks numbers by a lease with a fencing token for each project and number. */
export function redisNumberLock(redis: RedisConnection): NumberLock {
  return {
    async acquire(projectId, toNumber, callId) {
      const name = nameOf(projectId, toNumber);
      const args = [callId, FIRST_LEASE_MILLISECONDS, TOKEN_MILLISECONDS];
      const token = Number(await TAKE(redis, [name, `${name}:token`], args));
      return token === 0 ? undefined : token;
    },
    async renew(projectId, toNumber, callId) {
      return (await renewLock(redis, [nameOf(projectId, toNumber)], [callId, LEASE_MILLISECONDS])) === 1;
    },
    async release(projectId, toNumber, callId) {
      await releaseLock(redis, [nameOf(projectId, toNumber)], [callId]);
    },
  };
}

/** The number itself, in a key that outlasts the call, would outlast the erasure of the person too. */
function nameOf(projectId: string, toNumber: string): string {
  const digest = createHash('sha256').update(`${projectId}:${toNumber}`).digest('base64url');
  return `callway:number:{${projectId}:${digest}}`;
}
