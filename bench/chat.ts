/**
 * What chat completions cost beside their peers, all over one scripted upstream on loopback: the added time to the first
 * token, CPU time a token, evenness of many streams, memory over many turns, and what each execution mode asks for.
 *
 *   npm run bench:chat [-- --turns 50000 --requests 1000 --rounds 7 --only modes,memory --profile FOLDER]
 *
 * Upstream, relays and product are processes of their own. The product runs on the Postgres and Redis that DATABASE_URL
 * and REDIS_URL name, else embedded: its database then runs within its process, and counts as its own cost.
 */
import { parseArgs } from 'node:util';

import { closeConnections } from './chat/client.ts';
import { measureFirstToken } from './chat/firstToken.ts';
import { measureManyStreams } from './chat/manyStreams.ts';
import { measureMemory } from './chat/memory.ts';
import { measureModes } from './chat/modes.ts';
import { createProject, ONE_STEP } from './chat/project.ts';
import { type Server, startServer } from './chat/servers.ts';
import { measureTokenCost } from './chat/tokenCost.ts';

const { values: options } = parseArgs({
  options: {
    turns: { type: 'string', default: '5000' },
    requests: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'first-token,token-cost,streams,memory,modes' },
    profile: { type: 'string' },
  },
});
const wanted = new Set(options.only.split(','));

const servers: Server[] = [];
const start = async (...parameters: Parameters<typeof startServer>) => {
  const server = await startServer(...parameters);
  servers.push(server);
  return server;
};

try {
  const upstream = await start('upstream');
  const rawRelay = await start('rawRelay', upstream.url, options.profile);
  const sdkRelay = await start('sdkRelay', upstream.url, options.profile);
  const product = await start('product', upstream.url, options.profile);
  const project = await createProject(product.url, { executionMode: 'balance' }, ONE_STEP);
  const direct = { baseUrl: upstream.url };
  const throughRaw = { baseUrl: rawRelay.url };
  const throughSdk = { baseUrl: sdkRelay.url };
  const where = process.env.DATABASE_URL ? 'Postgres and Redis as they were given' : 'its embedded database';
  console.log(`Node ${process.version}; callway runs on ${where}.\n`);

  if (wanted.has('first-token')) {
    const targets = { direct, rawRelay: throughRaw, sdkRelay: throughSdk, product: project };
    await measureFirstToken(targets, Number(options.requests));
  }
  if (wanted.has('token-cost')) {
    const contenders = [
      { title: 'raw Node relay', server: rawRelay, target: throughRaw },
      { title: 'fastify and openai relay', server: sdkRelay, target: throughSdk },
      { title: 'callway', server: product, target: project },
    ];
    await measureTokenCost(contenders, Number(options.rounds));
  }
  if (wanted.has('streams')) {
    await measureManyStreams([
      { title: 'upstream itself', target: direct },
      { title: 'raw Node relay', target: throughRaw },
      { title: 'callway', target: project },
    ]);
  }
  if (wanted.has('memory')) await measureMemory(product, project, Number(options.turns));
  if (wanted.has('modes')) await measureModes(product, upstream);
} finally {
  closeConnections();
  for (const server of servers.reverse()) await server.close();
}
