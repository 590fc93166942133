import { createHash } from 'node:crypto';

import { orUnavailable, type RedisConnection } from './connection.ts';

/**
 * Runs a Lua script atomically.
 *
 * @param keys - The keys, all in one hash slot for Redis Cluster.
 * @throws {CallwayError} `redis_unavailable`
 */
export type Script = (
  redis: RedisConnection,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/**
 * Prepares a Lua script. It is called by its SHA-1 digest; the text is sent only to a server that does not know it
 * yet.
 */
export function createScript(text: string): Script {
  const digest = createHash('sha1').update(text).digest('hex');
  return (redis, keys, args) => {
    const result = redis.client
      .evalsha(digest, keys.length, ...keys, ...args)
      .catch((error: unknown) =>
        isUnknownScript(error)
          ? redis.client.eval(text, keys.length, ...keys, ...args)
          : Promise.reject(error),
      );
    return orUnavailable(result);
  };
}

/** KEYS: lock. ARGV: token of the holder, lease ms. Returns 1 when the caller holds the lock. */
export const renewLock = createScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`,
);

/** KEYS: lock. ARGV: token of the holder. Returns 1 when the caller held the lock. */
export const releaseLock = createScript(
  `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`,
);

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
