import { Cluster, Redis, type RedisOptions } from 'ioredis';

import { delay } from '../../../base/delay.ts';
import { CallwayError, unavailable } from '../../../base/errors.ts';
import { type HealthMonitorOptions, monitorHealth } from '../../../base/healthMonitor.ts';
import { type Credentials, parseRedisAddress } from './address.ts';

/** A command that takes longer says that Redis is away. */
const COMMAND_TIMEOUT_MILLISECONDS = 2_000;
const CONNECT_TIMEOUT_MILLISECONDS = 3_000;
const LONGEST_RETRY_MILLISECONDS = 1_000;

export type RedisClient = Redis | Cluster;

export interface RedisConnection {
  readonly client: RedisClient;
  /** The server's database that the address names; a cluster has 0 alone. */
  readonly databaseNumber: number;
  /** Whether commands can be sent at this moment. */
  isReady(): boolean;
  /** Resolves once commands can be sent for the first time; gives up after a few seconds without a word. */
  untilReady(): Promise<void>;
  /** @throws {CallwayError} `redis_unavailable` when it does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RedisDeps {
  readonly url: string;
  readonly onError: (error: Error) => void;
  /** Has the server watched: one that falls silent is known to be away after some seconds, and not ready. */
  readonly watch?: HealthMonitorOptions;
}

/** Connects; a lost connection is tried again for ever, and meanwhile commands fail at once. */
export function connectRedis(deps: RedisDeps): RedisConnection {
  const client = createRedisClient(deps.url);
  client.on('error', deps.onError);
  const ping = async () => void (await orUnavailable(client.ping()));
  const presence =
    deps.watch &&
    monitorHealth({ ...deps.watch, probe: ping, toError: (reason) => unavailable('redis', reason) });
  if (presence) client.on('ready', presence.check);
  let closed = false;
  return {
    client,
    databaseNumber: client instanceof Redis ? (client.options.db ?? 0) : 0,
    isReady: () => client.status === 'ready' && !presence?.isDown(),
    async untilReady() {
      if (client.status === 'ready') return;
      const waiting = new AbortController();
      // A connection that failed is tried again, and is no reason not to start.
      const ready = new Promise<void>((resolve) => void client.once('ready', () => resolve()));
      await Promise.race([ready, delay(CONNECT_TIMEOUT_MILLISECONDS, { signal: waiting.signal })]).finally(
        () => waiting.abort(),
      );
    },
    ping,
    async close() {
      if (closed) return;
      closed = true;
      client.disconnect();
      await presence?.close();
    },
  };
}

/** Waits for a command, and says in our own terms when Redis is away. */
export async function orUnavailable<Result>(command: Promise<Result>): Promise<Result> {
  try {
    return await command;
  } catch (error) {
    if (error instanceof CallwayError) throw error;
    throw unavailable('redis', error);
  }
}

/**
 * A client for what `REDIS_URL` names.
 *
 * @param use - `command` fails at once while Redis is away; `wait` is for BullMQ's workers, whose commands wait for
 *   jobs, and for Redis to be back.
 */
export function createRedisClient(url: string, use: 'command' | 'wait' = 'command'): RedisClient {
  const address = parseRedisAddress(url);
  const isPatient = use === 'wait';
  const bounds: RedisOptions = isPatient
    ? { maxRetriesPerRequest: null }
    : { maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MILLISECONDS };
  const options: RedisOptions = {
    ...bounds,
    enableOfflineQueue: isPatient,
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
        ...named(address.credentials),
      });
    case 'cluster':
      return new Cluster([...address.nodes], {
        enableOfflineQueue: isPatient,
        clusterRetryStrategy: (attempt) => Math.min(attempt * 50, LONGEST_RETRY_MILLISECONDS),
        redisOptions: {
          ...bounds,
          connectTimeout: CONNECT_TIMEOUT_MILLISECONDS,
          ...(address.tls ? { tls: {} } : {}),
          ...named(address.credentials),
        },
      });
  }
}

function named({ username, password }: Credentials) {
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) };
}
