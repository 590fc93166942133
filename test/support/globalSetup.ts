import type { TestProject } from 'vitest/node';
import { freshBuild } from '../../scripts/lib/serviceBuild.mjs';
import { createTemplates, dropTemplates, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of a Postgres role that may create databases. */
    postgresUrl: string;
    /** Name of the empty database that has pgvector. */
    postgresTemplate: string;
    /** Of a Redis server, without a database's number. */
    redisUrl: string;
    /** The program of the service, built from the source as it is, or the source itself where it cannot be built. */
    serviceEntry: string;
  }
}

/** What the whole test run shares, and how it ends. */
interface Shared {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts one Postgres and one Redis for the whole run, or takes those that TEST_DATABASE_URL and TEST_REDIS_URL name.
 * Should this process be killed, the servers end with it.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, redis, built] = await Promise.all([
    borrowed(process.env.TEST_DATABASE_URL) ?? startPostgres(),
    borrowed(process.env.TEST_REDIS_URL) ?? startRedis(),
    freshBuild(),
  ]);
  const template = await createTemplates(postgres.url);
  project.provide('postgresUrl', postgres.url);
  project.provide('postgresTemplate', template);
  project.provide('redisUrl', redis.url);
  project.provide('serviceEntry', built ?? 'src/main.ts');
  return async () => {
    await dropTemplates(postgres.url, template);
    await Promise.all([postgres.close(), redis.close()]);
  };
}

/** A server that somebody else started and ends. */
function borrowed(url: string | undefined): Shared | undefined {
  return url ? { url, close: async () => undefined } : undefined;
}
