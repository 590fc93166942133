import type { Logger } from 'pino';

import { type Clock, systemClock } from '../../base/values/clock.ts';
import type { Database } from '../../infra/postgres/connection/database.ts';
import { openPostgres } from '../../infra/postgres/connection/postgres.ts';
import { connectRedis, type RedisConnection } from '../../infra/redis/connection/connection.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { logHealthChanges } from './healthMonitoring.ts';

/** The database server that every thread of this node connects to. */
export interface DatabaseServer {
  readonly url: string;
  readonly isEmbedded: boolean;
}

/** A pool of connections, of which each thread has its own. @param poolSize - Most connections. */
export function connectDatabase(
  { url, isEmbedded }: DatabaseServer,
  logger: Logger,
  poolSize?: number,
): Database {
  return openPostgres({
    url,
    poolSize,
    sharesSession: isEmbedded,
    // The embedded server answers a probe only after the statements before it.
    health: isEmbedded ? undefined : logHealthChanges('database', logger, systemClock),
    onIdleError: (error) => logger.warn({ reason: error.message }, 'idle database connection failed'),
  });
}

/** @returns Connects to Redis. Only the connection for commands is health-checked. */
export function redisConnector(url: string, clock: Clock, logger: Logger, lifecycle: Lifecycle) {
  const log = logger.child({ part: 'redis' });
  return (use: 'commands' | 'subscriptions'): RedisConnection =>
    lifecycle.closing(
      connectRedis({
        url,
        health: use === 'commands' ? logHealthChanges('redis', logger, clock) : undefined,
        onError: (error) => log.warn({ reason: error.message }, 'redis connection failed'),
      }),
    );
}
