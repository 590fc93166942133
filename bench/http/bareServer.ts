import Fastify from 'fastify';

import type { Database } from '../../src/infra/postgres/connection/database.ts';
import { ANSWER, BODY, PROJECT_ID, ROUTE } from './route.ts';

/**
 * The peer: the same body in and the same answer out, and with a database the same SQL, with nothing between.
 *
 * @returns Its address.
 */
export async function startBareServer(database: Database | undefined): Promise<string> {
  const app = Fastify();
  app.patch(ROUTE, database ? () => saveIn(database) : async () => ANSWER);
  return await app.listen({ port: 0, host: '127.0.0.1' });
}

async function saveIn(database: Database): Promise<object> {
  return await database.transaction(async (transaction) => {
    const [row] = await transaction.query<{ config: object }>(
      'SELECT config, frozen FROM agents WHERE project_id = $1 FOR UPDATE',
      [PROJECT_ID],
    );
    const config = { ...row?.config, ...BODY };
    await transaction.query(
      'UPDATE agents SET config = $2, frozen = $3, updated_at = $4 WHERE project_id = $1',
      [PROJECT_ID, JSON.stringify(config), null, new Date().toISOString()],
    );
    return config;
  });
}
