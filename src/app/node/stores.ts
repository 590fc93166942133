import { join } from 'node:path';
import type { Logger } from 'pino';

import type { Dependency } from '../../api/ports.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { packagePath } from '../../base/packagePath.ts';
import type { Database } from '../../infra/postgres/connection/database.ts';
import { openEmbedded } from '../../infra/postgres/connection/embedded.ts';
import { migrate, readMigrations } from '../../infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../infra/postgres/connection/postgres.ts';
import { connectRedis, type RedisConnection } from '../../infra/redis/connection/connection.ts';
import { startRedisServer } from '../../infra/redis/connection/localServer.ts';
import { type JobQueues, openJobQueues } from '../../infra/redis/queues/jobQueues.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Config } from '../settings/config.ts';
import { restrictAccess } from './dataFolder.ts';
import { logHealthChanges } from './healthMonitoring.ts';
import type { StartupPhase } from './startupServer.ts';

const MIGRATIONS = packagePath('migrations');

/** Opens the configured or the embedded database and migrates it. */
export async function openDatabase(
  config: Config,
  logger: Logger,
  lifecycle: Lifecycle,
  onPhase: (phase: StartupPhase) => void,
): Promise<Database> {
  const database = config.DATABASE_URL
    ? openPostgres({
        url: config.DATABASE_URL,
        health: logHealthChanges('database', logger, systemClock),
        onIdleError: (error) => logger.warn({ reason: error.message }, 'idle database connection failed'),
      })
    : await openEmbeddedIn(join(config.DATA_DIR, 'database'));
  lifecycle.onClose(() => database.close());
  const done = await migrate(database, await readMigrations(MIGRATIONS), {
    onMigrate: () => onPhase('migrating'),
    onWait(what, migration) {
      onPhase('migrating');
      logger.warn({ waitsFor: what, migration }, 'database migration waiting');
    },
  });
  onPhase('starting');
  if (done.length > 0) logger.info({ migrations: done }, 'database migrated');
  return database;
}

/** PGlite unpacks a new database with files that are open to all. */
async function openEmbeddedIn(folder: string): Promise<Database> {
  const database = await openEmbedded({ folder });
  await restrictAccess(folder);
  return database;
}

/** Starts a Redis server as a child process. @returns Its URL. */
export async function startRedis(config: Config, logger: Logger, lifecycle: Lifecycle): Promise<string> {
  const server = await startRedisServer({
    folder: join(config.DATA_DIR, 'redis'),
    onEvent: (event, details) => logger.info({ event, ...details }, 'redis-server'),
  });
  lifecycle.onClose(() => server.close());
  return server.url;
}

/** @returns Connects to Redis. Only the connection for commands is health-checked. */
export function redisConnector(url: string, clock: Clock, logger: Logger, lifecycle: Lifecycle) {
  const log = logger.child({ part: 'redis' });
  return (use: 'commands' | 'subscriptions'): RedisConnection =>
    lifecycle.closing(
      connectRedis({
        url,
        ...(use === 'commands' && { health: logHealthChanges('redis', logger, clock) }),
        onError: (error) => log.warn({ reason: error.message }, 'redis connection failed'),
      }),
    );
}

export function openJobs(url: string, logger: Logger): JobQueues {
  const log = logger.child({ part: 'redis' });
  return openJobQueues({
    url,
    onError: (error, queue) => log.warn({ queue, reason: error.message }, 'job queue failed'),
  });
}

export function databaseDependency(database: Database): Dependency {
  return { name: 'database', check: async () => void (await database.query('SELECT 1')) };
}

export function redisDependency(redis: RedisConnection): Dependency {
  return { name: 'redis', check: () => redis.ping(), isDown: () => !redis.isReady() };
}
