import type { Allowance, RateLimiter } from '../../../agents/accounts/rateLimiter.ts';
import type { Clock } from '../../../base/values/clock.ts';
import { orUnavailable, type RedisConnection } from '../connection/connection.ts';

const WINDOW_MILLISECONDS = 60_000;
/** A node fetches a limit in this many parts, so that most requests need no Redis command. */
const PARTS = 100;

/** The part of a key's limit that this node has fetched in the current window. */
interface Share {
  /** Key of the count in Redis. */
  readonly name: string;
  remaining: number;
  exhausted: boolean;
  /** Requests that wait for the next part, and the fetch that they wait for. */
  waiting: number;
  fetching: Promise<void> | undefined;
}

/**
 * Counts requests in Redis over all nodes. Requests that wait for a part at the same time share one fetch: if each
 * fetched its own, a hundred of them would use up the whole limit.
 */
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
    const name = `callway:rate:${window}:${key}`;
    const fresh: Share = { name, remaining: 0, exhausted: false, waiting: 0, fetching: undefined };
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
  const fetchPart = async (own: Share, limit: number): Promise<void> => {
    const part = Math.max(Math.floor(limit / PARTS), own.waiting);
    const total = await orUnavailable(redis.client.incrby(own.name, part));
    if (total === part) await orUnavailable(redis.client.pexpire(own.name, 2 * WINDOW_MILLISECONDS));
    const granted = part - Math.max(0, total - limit);
    if (granted > 0) own.remaining += granted;
    else own.exhausted = true;
  };
  const takeAtOnce = (own: Share): Allowance | undefined => {
    if (own.remaining === 0) return own.exhausted ? refusal() : undefined;
    own.remaining -= 1;
    return ALLOWED;
  };
  const takeOfNextPart = async (own: Share, limit: number): Promise<Allowance> => {
    own.waiting += 1;
    try {
      for (;;) {
        own.fetching ??= fetchPart(own, limit).finally(() => {
          own.fetching = undefined;
        });
        await own.fetching;
        const taken = takeAtOnce(own);
        if (taken) return taken;
      }
    } finally {
      own.waiting -= 1;
    }
  };

  return {
    take(key, limit) {
      if (limit === 0) return ALLOWED;
      const own = share(key);
      return takeAtOnce(own) ?? takeOfNextPart(own, limit);
    },
    isExhausted: (key) => (share(key).exhausted ? refusal() : ALLOWED),
  };
}

const ALLOWED: Allowance = { allowed: true };
