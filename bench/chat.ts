/**
 * The cost of chat completions beside their peers, over one scripted upstream on loopback: added time to the first token,
 * CPU time per token, evenness of many streams, memory over many turns, and the requests of each execution mode.
 *
 *   npm run bench:chat [-- --turns 50000 --requests 1000 --rounds 7 --only modes,memory --embedded --profile FOLDER]
 *
 * Upstream, relays and product are compiled as the service is and run in processes of their own, and so do Postgres and
 * Redis: those of DATABASE_URL and REDIS_URL, else temporary ones. With `--embedded` the product runs on its embedded
 * stores.
 */
import { parseArgs } from 'node:util';

import { closeConnections } from './chat/client.ts';
import { measureFirstToken } from './chat/firstToken.ts';
import { measureManyStreams } from './chat/manyStreams.ts';
import { measureMemory } from './chat/memory.ts';
import { measureModes } from './chat/modes.ts';
import { createProject, ONE_STEP } from './chat/project.ts';
import { type Server, type ServerOptions, startServer } from './chat/servers.ts';
import { openStores } from './chat/stores.ts';
import { measureTokenCost } from './chat/tokenCost.ts';
import { compileProgram } from './support/compile.ts';

const { values: options } = parseArgs({
  options: {
    turns: { type: 'string', default: '5000' },
    requests: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'first-token,token-cost,streams,memory,modes' },
    embedded: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const wanted = new Set(options.only.split(','));

const program = await compileProgram('chat/child.ts');
const servers: Server[] = [];
const start = async (name: Server['name'], given: Partial<ServerOptions> = {}) => {
  const { profile: profileFolder } = options;
  const server = await startServer(name, { program, ...given, ...(profileFolder ? { profileFolder } : {}) });
  servers.push(server);
  return server;
};

const stores = await openStores(options.embedded);
try {
  const upstream = await start('upstream');
  const { url: upstreamUrl } = upstream;
  const rawRelay = await start('rawRelay', { upstreamUrl });
  const sdkRelay = await start('sdkRelay', { upstreamUrl });
  const product = await start('product', { upstreamUrl, environment: stores.environment });
  const project = await createProject(product.url, { executionMode: 'balance' }, ONE_STEP);
  const direct = { baseUrl: upstream.url };
  const throughRaw = { baseUrl: rawRelay.url };
  const throughSdk = { baseUrl: sdkRelay.url };
  console.log(`Node ${process.version}; callway runs on ${stores.title}.\n`);

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
  await stores.close();
}
