import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { connectRedis } from './connection.ts';

/** The facts about a Redis server that `callway doctor` checks. */
export interface RedisFacts {
  /** The version, such as `7.0.15`. */
  readonly version: string;
  /** `noeviction`, or the policy by which the server evicts keys when its memory is full. */
  readonly evictionPolicy: string;
}

const run = promisify(execFile);

/**
 * Inspects a server, or one node of a cluster.
 *
 * @throws {Error} When the server is unreachable or rejects the credentials.
 */
export async function probeRedis(url: string): Promise<RedisFacts> {
  let lastError: Error | undefined;
  const connection = connectRedis({
    url,
    onError: (error) => {
      lastError = error;
    },
  });
  try {
    await connection.untilReady();
    if (!connection.isReady()) throw lastError ?? new Error('Redis did not answer in time');
    const info = await connection.client.info();
    return { version: fieldOf(info, 'redis_version'), evictionPolicy: fieldOf(info, 'maxmemory_policy') };
  } finally {
    await connection.close();
  }
}

/** @returns The version of the `redis-server` on PATH; undefined when there is none. */
export async function installedRedisServer(): Promise<string | undefined> {
  try {
    const { stdout } = await run('redis-server', ['--version']);
    return /\bv=(\S+)/.exec(stdout)?.[1] ?? stdout.trim();
  } catch {
    // Not installed, or not executable.
    return undefined;
  }
}

/** @see https://redis.io/docs/latest/commands/info/ */
function fieldOf(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
}
