import { startRedis } from '../../test/support/redis.ts';
import { ADMIN_TOKEN } from '../chat/product.ts';
import { startServer } from '../chat/servers.ts';
import { compileProgram } from '../support/compile.ts';

/** The service on a filled database, in a process of its own. */
export interface SearchService {
  /** @returns The total, once the whole answer is read. */
  search(text: string): Promise<number>;
  close(): Promise<void>;
}

/** Starts the service with a Redis of its own, and a key of the project. */
export async function startSearchService(databaseUrl: string, projectId: string): Promise<SearchService> {
  const redis = await startRedis();
  const environment = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url };
  const server = await startServer('product', {
    program: await compileProgram('chat/child.ts'),
    environment,
  });
  const path = `${server.url}/v1/projects/${projectId}`;
  const { key } = await post(`${path}/api-keys`, ADMIN_TOKEN, { name: 'bench', kind: 'developer' });
  return {
    async search(text) {
      const { pagination } = await post(`${path}/sessions/search`, String(key), { search_string: text });
      return (pagination as { total: number }).total;
    },
    async close() {
      await server.close();
      await redis.close();
    },
  };
}

async function post(url: string, key: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
