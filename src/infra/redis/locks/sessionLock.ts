import { randomUUID } from 'node:crypto';
import { sleep } from '../../../base/async/sleep.ts';
import { CallwayError } from '../../../base/errors.ts';
import type { Clock } from '../../../base/values/clock.ts';
import type { HeldLock, SessionLock } from '../../../engine/session/sessionLock.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';
import { createScript, renewLock } from '../connection/scripts.ts';

/** The lock of a dead holder is free after this time. */
const LEASE_MS = 5_000;
const RENEW_MS = 1_500;
const LONGEST_WAIT_MS = 30_000;
/** Waiters poll; at first more often, since most turns that are waited for are about to end. */
const FIRST_POLL_MS = 4;
const LONGEST_POLL_MS = 15;
/** A waiter that stops polling loses its place in the queue after this time. */
const PLACE_MS = 2_000;
/**
 * The time for which a release counts as recent. It is longer than a command to Redis may take, so that no read that
 * started with the request for the lock is older.
 */
const RECENTLY_RELEASED_MS = 3_000;
/** The time for which the last holder is remembered, longer than the pauses of most calls. */
const REMEMBERED_MS = 600_000;

/**
 * Takes the lock if it is free and no earlier waiter is alive. Waiters are in a sorted set by arrival; the key of its
 * place shows that a waiter is alive.
 *
 * KEYS: lock, queue, place prefix, released, last node. ARGV: token, lease ms, place ms, arrival, node or empty.
 * Returns 0 where the lock is taken, 1 where it was free, 2 where it was released recently, 3 where this node was the last
 * to hold it.
 */
const acquireLock = createScript(`
local function taken()
  local last = redis.call('GET', KEYS[5])
  if ARGV[5] ~= '' then redis.call('SET', KEYS[5], ARGV[5], 'PX', ${REMEMBERED_MS})
  elseif last then redis.call('DEL', KEYS[5]) end
  if last and last == ARGV[5] then return 3 end
  return 1 + redis.call('EXISTS', KEYS[4])
end
if redis.call('EXISTS', KEYS[2]) == 0 and redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return taken()
end
redis.call('SET', KEYS[3] .. ARGV[1], '1', 'PX', ARGV[3])
redis.call('ZADD', KEYS[2], 'NX', ARGV[4], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ${2 * LONGEST_WAIT_MS})
while true do
  local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if first == ARGV[1] then break end
  if redis.call('EXISTS', KEYS[3] .. first) == 1 then return 0 end
  redis.call('ZREM', KEYS[2], first)
end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('DEL', KEYS[3] .. ARGV[1])
  return taken()
end
return 0`);

/** KEYS: lock, released. ARGV: token, how long to remember the release in ms. */
const releaseLock = createScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
return redis.call('DEL', KEYS[1])`);

/**
 * Locks sessions by leases in Redis. The holder renews its lease, the lease of a dead holder expires, and waiters get the
 * lock in the order of their arrival. A holder that lost its lease cannot store its turn: the session's turn count
 * rejects it.
 */
export function redisSessionLock(redis: RedisConnection, clock: Clock): SessionLock {
  const node = randomUUID();
  return {
    async acquire(projectId, sessionId, reportsLastHolder = false) {
      // One hash slot for all keys of a session, for Redis Cluster.
      const name = `callway:turn:{${projectId}:${sessionId}}`;
      const token = randomUUID();
      const keys = [name, `${name}:queue`, `${name}:place:`, `${name}:released`, `${name}:last`];
      const args = [token, LEASE_MS, PLACE_MS, clock.now(), reportsLastHolder ? node : ''];
      const deadlineMs = clock.monotonicMs() + LONGEST_WAIT_MS;
      let pauseMs = FIRST_POLL_MS;
      for (let hasWaited = false; ; hasWaited = true) {
        const taken = await acquireLock(redis, keys, args);
        if (taken !== 0) {
          const wasOwn = taken === 3;
          return hold(redis, clock, { name, token, wasOwn, wasContended: hasWaited || taken === 2 });
        }
        if (clock.monotonicMs() + pauseMs > deadlineMs) {
          await orUnavailable(redis.client.zrem(`${name}:queue`, token));
          throw busy();
        }
        await sleep(clock, pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_POLL_MS);
      }
    },
  };
}

interface Lease {
  readonly name: string;
  readonly token: string;
  readonly wasContended: boolean;
  readonly wasOwn: boolean;
}

/** Renews the lease until it is released or lost. */
function hold(redis: RedisConnection, clock: Clock, { name, token, wasContended, wasOwn }: Lease): HeldLock {
  const losing = new AbortController();
  let isReleased = false;
  let renewedAtMs = clock.monotonicMs();
  const renew = async () => {
    try {
      const renewed = await renewLock(redis, [name], [token, LEASE_MS]);
      if (renewed === 1) renewedAtMs = clock.monotonicMs();
      else losing.abort(lost());
    } catch {
      // While Redis is unavailable the lease runs on for a while, and may be renewed afterwards.
      if (clock.monotonicMs() - renewedAtMs > LEASE_MS) losing.abort(lost());
    }
    if (!isReleased && !losing.signal.aborted) timer = clock.setTimer(renew, RENEW_MS);
  };
  let timer = clock.setTimer(renew, RENEW_MS);
  return {
    lost: losing.signal,
    wasContended,
    wasOwn,
    async release() {
      if (isReleased) return;
      isReleased = true;
      timer.cancel();
      await releaseLock(redis, [name, `${name}:released`], [token, RECENTLY_RELEASED_MS]).catch(() => {
        // The lease expires.
      });
    },
  };
}

function busy(): CallwayError {
  const message = 'Another turn of this session is still running; try again when it has ended';
  return new CallwayError('conflict', 'session_busy', message);
}

function lost(): CallwayError {
  const message = 'The turn lost its lock: it took too long without renewing it';
  return new CallwayError('conflict', 'turn_lost', message);
}
