import type { DailyCounter } from '../../../agents/accounts/rateLimiter.ts';
import type { Clock } from '../../../base/clock.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

const DAY_MS = 86_400_000;

/** Counts in Redis over all nodes. */
export function redisDailyCounter(redis: RedisConnection, clock: Clock): DailyCounter {
  const nameOf = (key: string) => `callway:day:${Math.floor(clock.now() / DAY_MS)}:${key}`;
  return {
    async take(key, limit) {
      const name = nameOf(key);
      const count = await orUnavailable(redis.client.incr(name));
      if (count === 1) await orUnavailable(redis.client.pexpire(name, 2 * DAY_MS));
      if (count <= limit) return { allowed: true };
      await orUnavailable(redis.client.decr(name));
      return { allowed: false, retryAfterSeconds: Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000) };
    },
    async read(key) {
      return Number((await orUnavailable(redis.client.get(nameOf(key)))) ?? 0);
    },
  };
}
