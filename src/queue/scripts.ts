import { orUnavailable, type RedisConnection } from './redis.ts';

/**
 * Runs a Lua script, which is one step to everybody else.
 *
 * @param keys - All in one hash slot, for Redis Cluster.
 * @throws {CallwayError} `redis_unavailable`
 */
export async function runScript(
  redis: RedisConnection,
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<number> {
  return Number(await orUnavailable(redis.client.eval(script, keys.length, ...keys, ...args)));
}
