import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { connectRedis } from './connection.ts';

/** What there is to know of a Redis server before Callway starts on it. */
export interface RedisFacts {
  /** As in `7.0.15`. */
  readonly version: string;
  /** `noeviction`, or the policy by which it throws keys away when its memory is full. */
  readonly evictionPolicy: string;
}

const run = promisify(execFile);

/**
 * Looks at a server, or at one node of a cluster.
 *
 * @throws {Error} When it cannot be reached or refuses the credentials.
 */
export async function probeRedis(url: string): Promise<RedisFacts> {
  let trouble: Error | undefined;
  const connection = connectRedis({
    url,
    onError: (error) => {
      trouble = error;
    },
  });
  try {
    await connection.untilReady();
    if (!connection.isReady()) throw trouble ?? new Error('no answer in time');
    const info = await connection.client.info();
    return { version: fieldOf(info, 'redis_version'), evictionPolicy: fieldOf(info, 'maxmemory_policy') };
  } finally {
    await connection.close();
  }
}

/** @returns The version of the `redis-server` that PATH finds, or `undefined` where there is none. */
export async function installedRedisServer(): Promise<string | undefined> {
  try {
    const { stdout } = await run('redis-server', ['--version']);
    return /\bv=(\S+)/.exec(stdout)?.[1] ?? stdout.trim();
  } catch {
    // Not there, or not to be run: the same to whoever wants to start it.
    return undefined;
  }
}

/** @see https://redis.io/docs/latest/commands/info/ */
function fieldOf(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
}
