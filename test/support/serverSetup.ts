import type { TestProject } from 'vitest/node';
import { createTemplates, dropTemplates, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of a Postgres role that may create databases. */
    postgresUrl: string;
    /** Name of the empty template database with pgvector. */
    postgresTemplate: string;
    /** URL of a Redis server without a database number. */
    redisUrl: string;
  }
}

const NEEDS_SERVERS = /\.(integration|realtime)\.test\.ts$/;

/** A server shared by the whole test run. */
interface Shared {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts one Postgres and one Redis for the whole run, or uses those of TEST_DATABASE_URL and TEST_REDIS_URL; none for
 * unit tests alone. A watchdog ends the servers when this process is killed.
 */
export default async function setUp(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!project.vitest.state.getPaths().some((path) => NEEDS_SERVERS.test(path))) return undefined;
  const [postgres, redis] = await Promise.all([
    borrowed(process.env.TEST_DATABASE_URL) ?? startPostgres(),
    borrowed(process.env.TEST_REDIS_URL) ?? startRedis(),
  ]);
  const template = await createTemplates(postgres.url);
  project.provide('postgresUrl', postgres.url);
  project.provide('postgresTemplate', template);
  project.provide('redisUrl', redis.url);
  return async () => {
    await dropTemplates(postgres.url, template);
    await Promise.all([postgres.close(), redis.close()]);
  };
}

/** A server that the test run did not start and does not stop. */
function borrowed(url: string | undefined): Shared | undefined {
  return url ? { url, close: async () => undefined } : undefined;
}
