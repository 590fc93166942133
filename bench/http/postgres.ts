import { createTemplates, dropTemplates, startPostgres } from '../../test/support/postgres.ts';

/**
 * An empty database with pgvector: on the server of TEST_DATABASE_URL (a role that may create databases), or on a temporary
 * one.
 *
 * @returns `undefined` when no Postgres with pgvector is installed.
 */
export async function startMeasuredPostgres() {
  const named = process.env.TEST_DATABASE_URL;
  const server = named
    ? { url: named, close: async () => undefined }
    : await startPostgres().catch(() => undefined);
  if (!server) return undefined;
  const name = await createTemplates(server.url);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async close() {
      await dropTemplates(server.url, name);
      await server.close();
    },
  };
}
