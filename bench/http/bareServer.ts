import Fastify from 'fastify';

import { ANSWER, ROUTE } from './route.ts';

/** The peer: the same body in and the same answer out, with nothing between. @returns Its address. */
export async function startBareServer(): Promise<string> {
  const app = Fastify();
  app.patch(ROUTE, async () => ANSWER);
  return await app.listen({ port: 0, host: '127.0.0.1' });
}
