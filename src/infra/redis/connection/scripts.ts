import { createHash } from 'node:crypto';

import { orUnavailable, type RedisConnection } from './connection.ts';

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

/** A script that is run all the time; what it answers is the caller's to read. */
export type Script = (
  redis: RedisConnection,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/**
 * Prepares a script to be named by its digest, so that its text goes over the wire only to a server that lacks it: one
 * that has just started, or has just become the master.
 *
 * @returns Runs it, and fails, as {@link runScript} does.
 */
export function createScript(text: string): Script {
  const digest = createHash('sha1').update(text).digest('hex');
  return (redis, keys, args) => {
    const answer = redis.client
      .evalsha(digest, keys.length, ...keys, ...args)
      .catch((error: unknown) =>
        isUnknownScript(error)
          ? redis.client.eval(text, keys.length, ...keys, ...args)
          : Promise.reject(error),
      );
    return orUnavailable(answer);
  };
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
