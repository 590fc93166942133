import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import type { Clock } from '../../../base/clock.ts';
import { CallwayError } from '../../../base/errors.ts';
import type { HeldLock, SessionLock } from '../../../engine/session/sessionStore.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';
import { createScript } from '../connection/scripts.ts';

/** A lock whose holder has died is free after this time: a caller whose talk goes on with another node waits so long. */
const LEASE_MILLISECONDS = 5_000;
const RENEW_MILLISECONDS = 1_500;
const LONGEST_WAIT_MILLISECONDS = 30_000;
/** A waiter asks so often; the first times sooner, since most turns that are waited for are about to end. */
const FIRST_POLL_MILLISECONDS = 4;
const LONGEST_POLL_MILLISECONDS = 15;
/** Places of waiters that went away without a word are passed over after this time. */
const PLACE_MILLISECONDS = 2_000;
/**
 * Much longer than any command waits for its answer: what was left before is older than whatever is read beside it. And
 * longer than most people think about an answer: a node then knows without a look that nobody else was there meanwhile.
 */
const MARK_MILLISECONDS = 10 * 60_000;

/**
 * Takes the lock if it is free and nobody who waits has an earlier place. Waiters stand in a sorted set by arrival,
 * and show by their places' keys that they are still there.
 *
 * KEYS: lock, queue, place prefix, mark. ARGV: token, lease ms, place ms, arrival. Returns 1 when taken, else 0, and
 * the mark that the last holder left.
 */
const ACQUIRE = createScript(`
if redis.call('EXISTS', KEYS[2]) == 0 and redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return {1, redis.call('GET', KEYS[4])}
end
redis.call('SET', KEYS[3] .. ARGV[1], '1', 'PX', ARGV[3])
redis.call('ZADD', KEYS[2], 'NX', ARGV[4], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ${2 * LONGEST_WAIT_MILLISECONDS})
while true do
  local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if first == ARGV[1] then break end
  if redis.call('EXISTS', KEYS[3] .. first) == 1 then return {0, false} end
  redis.call('ZREM', KEYS[2], first)
end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('DEL', KEYS[3] .. ARGV[1])
  return {1, redis.call('GET', KEYS[4])}
end
return {0, false}`);

const RENEW = createScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`,
);
/** KEYS: lock, mark. ARGV: token, mark, its ms. */
const RELEASE = createScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return redis.call('DEL', KEYS[1])`);

/** What is known of the holder before. */
interface Before {
  readonly hasWaited: boolean;
  readonly mark: string | null;
}

/**
 * A lease per session in Redis: its holder renews it, a dead holder's runs out, waiters get it in the order of their
 * arrival. What a holder that lost it still writes, or had read too early, is refused by the session's turn count.
 */
export function redisTurnLock(redis: RedisConnection, clock: Clock): SessionLock {
  const acquire = async (projectId: string, sessionId: string): Promise<HeldLock> => {
    // One hash slot for all keys of a session, for Redis Cluster.
    const name = `callway:turn:{${projectId}:${sessionId}}`;
    const token = randomUUID();
    const keys = [name, `${name}:queue`, `${name}:place:`, markOf(name)];
    const arrival = clock.now();
    const deadline = clock.monotonicMs() + LONGEST_WAIT_MILLISECONDS;
    let pauseMs = FIRST_POLL_MILLISECONDS;
    for (let hasWaited = false; ; hasWaited = true) {
      const args = [token, LEASE_MILLISECONDS, PLACE_MILLISECONDS, arrival];
      const [taken, mark] = (await ACQUIRE(redis, keys, args)) as [number, string | null];
      if (taken === 1) return hold(name, token, { hasWaited, mark });
      if (clock.monotonicMs() + pauseMs > deadline) {
        await orUnavailable(redis.client.zrem(`${name}:queue`, token));
        throw new CallwayError(
          'conflict',
          'session_busy',
          'Another turn of this session is still running; try again when it has ended',
        );
      }
      await delay(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_POLL_MILLISECONDS);
    }
  };

  const hold = (name: string, token: string, before: Before): HeldLock => {
    // Of a holder that leaves none, a mark like no other.
    let markLeft = token;
    const losing = new AbortController();
    let renewedAtMs = clock.monotonicMs();
    const renew = async () => {
      try {
        const kept = await RENEW(redis, [name], [token, LEASE_MILLISECONDS]);
        if (kept === 1) renewedAtMs = clock.monotonicMs();
        else losing.abort(lost());
      } catch {
        // Redis is away: the lease still holds for a while, and may be renewed when it is back.
        if (clock.monotonicMs() - renewedAtMs > LEASE_MILLISECONDS) losing.abort(lost());
      }
      if (!isReleased && !losing.signal.aborted) timer = clock.setTimer(renew, RENEW_MILLISECONDS);
    };
    let isReleased = false;
    let timer = clock.setTimer(renew, RENEW_MILLISECONDS);
    return {
      lost: losing.signal,
      isNewest: (mark) => !before.hasWaited && (before.mark === null || before.mark === mark),
      isLeft: (mark) => before.mark === mark,
      leave(mark) {
        markLeft = mark;
      },
      async release() {
        if (isReleased) return;
        isReleased = true;
        timer.cancel();
        await RELEASE(redis, [name, markOf(name)], [token, markLeft, MARK_MILLISECONDS]).catch(() => {
          // It runs out by itself.
        });
      },
    };
  };

  return {
    acquire,
    async run(projectId, sessionId, work) {
      const held = await acquire(projectId, sessionId);
      try {
        return await work(held);
      } finally {
        await held.release();
      }
    },
  };
}

const markOf = (name: string) => `${name}:mark`;

function lost(): CallwayError {
  return new CallwayError(
    'conflict',
    'turn_lost',
    'The turn took so long without a sign of life that another took its place',
  );
}
