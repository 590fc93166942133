import { startRedis } from '../../test/support/redis.ts';
import { startMeasuredPostgres } from '../http/postgres.ts';

/** The product's database and Redis. */
export interface Stores {
  readonly title: string;
  /** Their environment variables. */
  readonly environment: Readonly<Record<'DATABASE_URL' | 'REDIS_URL', string>>;
  close(): Promise<void>;
}

/**
 * The Postgres and Redis of DATABASE_URL and REDIS_URL, or temporary servers.
 *
 * @param isEmbedded - Neither: the product's embedded stores, whose database runs in its process and counts as its cost.
 *   The same applies when Postgres is not installed.
 */
export async function openStores(isEmbedded: boolean): Promise<Stores> {
  const { DATABASE_URL = '', REDIS_URL = '' } = process.env;
  if (isEmbedded) return embedded('its embedded database');
  if (DATABASE_URL !== '') {
    const title = 'the Postgres and Redis that were named';
    return { title, environment: { DATABASE_URL, REDIS_URL }, close: async () => undefined };
  }
  const postgres = await startMeasuredPostgres();
  if (!postgres) return embedded('its embedded database, since no Postgres with pgvector is installed');
  const redis = await startRedis();
  return {
    title: 'a Postgres and a Redis of its own',
    environment: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    async close() {
      await redis.close();
      await postgres.close();
    },
  };
}

function embedded(title: string): Stores {
  return { title, environment: { DATABASE_URL: '', REDIS_URL: '' }, close: async () => undefined };
}
