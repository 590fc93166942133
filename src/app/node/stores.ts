import { join } from 'node:path';
import type { Logger } from 'pino';

import type { Dependency } from '../../api/ports.ts';
import { packagePath } from '../../base/packagePath.ts';
import type { Database } from '../../infra/postgres/connection/database.ts';
import { migrate, readMigrations } from '../../infra/postgres/connection/migrate.ts';
import { EmbeddedServer } from '../../infra/postgres/embedded/server.ts';
import type { RedisConnection } from '../../infra/redis/connection/connection.ts';
import { startRedisServer } from '../../infra/redis/connection/localServer.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Config } from '../settings/config.ts';
import { connectDatabase, type DatabaseServer } from './connections.ts';
import { restrictAccess } from './dataFolder.ts';
import type { StartupPhase } from './startupServer.ts';

const MIGRATIONS = packagePath('migrations');

/** Starts or connects to the database, and migrates it. */
export async function openDatabase(
  config: Config,
  logger: Logger,
  lifecycle: Lifecycle,
  onPhase: (phase: StartupPhase) => void,
): Promise<{ server: DatabaseServer; database: Database }> {
  const server = await startDatabase(config, logger, lifecycle);
  const database = lifecycle.closing(connectDatabase(server, logger));
  const done = await migrate(database, await readMigrations(MIGRATIONS), {
    onMigrate: () => onPhase('migrating'),
    onWait(what, migration) {
      onPhase('migrating');
      logger.warn({ waitsFor: what, migration }, 'database migration waiting');
    },
  });
  onPhase('starting');
  if (done.length > 0) logger.info({ migrations: done }, 'database migrated');
  return { server, database };
}

/** The configured database server, or the embedded one, which it starts. */
async function startDatabase(
  { DATABASE_URL, DATA_DIR }: Config,
  logger: Logger,
  lifecycle: Lifecycle,
): Promise<DatabaseServer> {
  if (DATABASE_URL) return { url: DATABASE_URL, isEmbedded: false };
  const folder = join(DATA_DIR, 'database');
  const server = await EmbeddedServer.start({
    folder,
    onFailure: (error) => logger.error({ err: error }, 'embedded database failed; restarting'),
  });
  lifecycle.onClose(() => server.close());
  // PGlite unpacks a new database with files that are open to all.
  await restrictAccess(folder);
  return { url: server.url, isEmbedded: true };
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

export function databaseDependency(database: Database): Dependency {
  return { name: 'database', check: async () => void (await database.query('SELECT 1')) };
}

export function redisDependency(redis: RedisConnection): Dependency {
  return { name: 'redis', check: () => redis.ping(), isDown: () => !redis.isReady() };
}
