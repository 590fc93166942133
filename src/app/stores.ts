import { join } from 'node:path';
import type { Logger } from 'pino';

import { systemClock } from '../base/clock.ts';
import { packagePath } from '../base/packagePath.ts';
import type { Database } from '../infra/postgres/connection/database.ts';
import { openEmbedded } from '../infra/postgres/connection/embedded.ts';
import { migrate, readMigrations } from '../infra/postgres/connection/migrate.ts';
import { openPostgres } from '../infra/postgres/connection/postgres.ts';
import { startRedisServer } from '../infra/redis/connection/localServer.ts';
import type { Closers } from './conversation.ts';
import { logHealthChanges } from './healthMonitoring.ts';
import type { Config } from './settings/config.ts';

const MIGRATIONS = packagePath('migrations');

/** Opens the configured or the embedded database and migrates it. */
export async function openDatabase(config: Config, logger: Logger, closers: Closers): Promise<Database> {
  const database = config.DATABASE_URL
    ? openPostgres({
        url: config.DATABASE_URL,
        health: logHealthChanges('database', logger, systemClock),
        onIdleError: (error) => logger.warn({ reason: error.message }, 'idle database connection failed'),
      })
    : await openEmbedded({ folder: join(config.DATA_DIR, 'database') });
  closers.push(() => database.close());
  const done = await migrate(database, await readMigrations(MIGRATIONS));
  if (done.length > 0) logger.info({ migrations: done }, 'database migrated');
  return database;
}

/** Starts a Redis server as a child process. @returns Its URL. */
export async function startRedis(config: Config, logger: Logger, closers: Closers): Promise<string> {
  const server = await startRedisServer({
    folder: join(config.DATA_DIR, 'redis'),
    onEvent: (event, details) => logger.info({ event, ...details }, 'redis-server'),
  });
  closers.push(() => server.close());
  return server.url;
}
