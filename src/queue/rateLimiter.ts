import type { Allowance, RateLimiter } from '../accounts/rateLimiter.ts';
import type { Clock } from '../base/clock.ts';
import { orUnavailable, type RedisConnection } from './redis.ts';

const WINDOW_MILLISECONDS = 60_000;
/** A node fetches its allowance in so many parts, so that most requests need no word with Redis. */
const PARTS = 100;

interface Share {
  remaining: number;
  exhausted: boolean;
}

export function redisRateLimiter(redis: RedisConnection, clock: Clock): RateLimiter {
  let window = -1;
  let shares = new Map<string, Share>();

  const share = (key: string): Share => {
    const current = Math.floor(clock.now() / WINDOW_MILLISECONDS);
    if (current !== window) {
      window = current;
      shares = new Map();
    }
    const known = shares.get(key);
    if (known) return known;
    const fresh = { remaining: 0, exhausted: false };
    shares.set(key, fresh);
    return fresh;
  };
  const refusal = (): Allowance => ({
    allowed: false,
    retryAfterSeconds: Math.max(
      1,
      Math.ceil((WINDOW_MILLISECONDS - (clock.now() % WINDOW_MILLISECONDS)) / 1000),
    ),
  });
  const fetchPart = async (key: string, limit: number, own: Share): Promise<Allowance> => {
    const part = Math.max(1, Math.floor(limit / PARTS));
    const name = `callway:rate:${window}:${key}`;
    const total = await orUnavailable(redis.client.incrby(name, part));
    if (total === part) await orUnavailable(redis.client.pexpire(name, 2 * WINDOW_MILLISECONDS));
    const granted = part - Math.max(0, total - limit);
    if (granted <= 0) {
      own.exhausted = true;
      return refusal();
    }
    own.remaining += granted - 1;
    return ALLOWED;
  };

  return {
    take(key, limit) {
      if (limit === 0) return ALLOWED;
      const own = share(key);
      if (own.remaining > 0) {
        own.remaining -= 1;
        return ALLOWED;
      }
      return own.exhausted ? refusal() : fetchPart(key, limit, own);
    },
    isExhausted: (key) => (share(key).exhausted ? refusal() : ALLOWED),
  };
}

const ALLOWED: Allowance = { allowed: true };
