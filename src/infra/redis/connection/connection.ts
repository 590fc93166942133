import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { type HealthMonitorOptions, monitorHealth } from '../../../base/async/healthMonitor.ts';
import { ConfigurationError } from '../../../base/configurationError.ts';
import { CallwayError, unavailable } from '../../../base/errors.ts';
import { type Credentials, parseRedisAddress } from './address.ts';

/** A command that takes longer counts as a failed server. */
const COMMAND_TIMEOUT_MILLISECONDS = 2_000;
const CONNECT_TIMEOUT_MILLISECONDS = 3_000;
const LONGEST_RETRY_MILLISECONDS = 1_000;

export type RedisClient = Redis | Cluster;

export interface RedisConnection {
  readonly client: RedisClient;
  /** Database number in the URL; always 0 on a cluster. */
  readonly databaseNumber: number;
  /** Returns true when commands can be sent now. */
  isReady(): boolean;
  /**
   * Resolves at the first connection, or after a few seconds without one.
   *
   * @throws {ConfigurationError} When the server has no database of this number.
   */
  untilReady(): Promise<void>;
  /** @throws {CallwayError} `redis_unavailable` */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RedisDeps {
  readonly url: string;
  readonly onError: (error: Error) => void;
  /** Enables health monitoring: a server that stops answering is reported as not ready within seconds. */
  readonly health?: HealthMonitorOptions;
}

/** Connects to Redis and reconnects forever. While disconnected, commands fail at once. */
export function connectRedis(deps: RedisDeps): RedisConnection {
  const client = createRedisClient(deps.url);
  client.on('error', deps.onError);
  const ping = async () => void (await orUnavailable(client.ping()));
  const health =
    deps.health &&
    monitorHealth({
      ...deps.health,
      probe: ping,
      toError: (reason) => unavailable('redis', reason),
      onChange(change) {
        // A silent server: commands fail at once, and not after a timeout each, until a new connection is ready.
        if (change.isDown && client.status === 'ready') client.disconnect(true);
        deps.health?.onChange(change);
      },
    });
  if (health) client.on('ready', health.check);
  let closed = false;
  const databaseNumber = client instanceof Redis ? (client.options.db ?? 0) : 0;
  return {
    client,
    databaseNumber,
    isReady: () => client.status === 'ready' && !health?.isDown(),
    async untilReady() {
      const waiting = new AbortController();
      // A failed connection is retried and must not stop the service from starting.
      const ready = new Promise<void>((resolve) => {
        if (client.status === 'ready') resolve();
        else client.once('ready', () => resolve());
      });
      await Promise.race([
        ready,
        delay(CONNECT_TIMEOUT_MILLISECONDS, undefined, { signal: waiting.signal }),
      ]).finally(() => waiting.abort());
      if (client.status === 'ready' && databaseNumber > 0) await requireDatabase(client, databaseNumber);
    },
    ping,
    async close() {
      if (closed) return;
      closed = true;
      client.disconnect();
      await health?.close();
    },
  };
}

/** The client itself continues with database 0 when the server refuses the number. */
async function requireDatabase(client: RedisClient, databaseNumber: number): Promise<void> {
  await client.select(databaseNumber).catch((error: Error) => {
    if (!/index is out of range/.test(error.message)) return; // unreachable again: it reconnects
    const message = `the server has no database ${databaseNumber} (${error.message})`;
    throw new ConfigurationError([{ variable: 'REDIS_URL', message }]);
  });
}

/** Maps every failure of a command to `redis_unavailable`. */
export async function orUnavailable<Result>(command: Promise<Result>): Promise<Result> {
  try {
    return await command;
  } catch (error) {
    if (error instanceof CallwayError) throw error;
    throw unavailable('redis', error);
  }
}

/**
 * Creates a client for `REDIS_URL`.
 *
 * @param use - `command` fails at once while Redis is unavailable. `wait` is for BullMQ workers: commands block for
 *   jobs and wait for reconnects.
 */
export function createRedisClient(url: string, use: 'command' | 'wait' = 'command'): RedisClient {
  const address = parseRedisAddress(url);
  const blocks = use === 'wait';
  const bounds: RedisOptions = blocks
    ? { maxRetriesPerRequest: null }
    : { maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MILLISECONDS };
  const options: RedisOptions = {
    ...bounds,
    enableOfflineQueue: blocks,
    connectTimeout: CONNECT_TIMEOUT_MILLISECONDS,
    retryStrategy: (attempt) => Math.min(attempt * 50, LONGEST_RETRY_MILLISECONDS),
  };
  switch (address.kind) {
    case 'single':
      return new Redis(address.url, options);
    case 'sentinel':
      return new Redis({
        ...options,
        sentinels: [...address.sentinels],
        name: address.masterName,
        ...authOptions(address.credentials),
      });
    case 'cluster':
      return new Cluster([...address.nodes], {
        enableOfflineQueue: blocks,
        clusterRetryStrategy: (attempt) => Math.min(attempt * 50, LONGEST_RETRY_MILLISECONDS),
        redisOptions: {
          ...bounds,
          connectTimeout: CONNECT_TIMEOUT_MILLISECONDS,
          tls: address.tls ? {} : undefined,
          ...authOptions(address.credentials),
        },
      });
  }
}

function authOptions({ username, password }: Credentials) {
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) };
}
