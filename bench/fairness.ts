/**
 * What one project's costly work costs another: how long the chats of a project take while a second project sends, all at
 * once and without a pause, every turn and request that costs a node most, beside the same chats without it.
 *
 *   npm run bench:fairness [-- --chats 100 --rounds 3 --model-ms 300 --embedded]
 *
 * No rate limit protects the other project; refusing overload does, as by default. Upstream, product, Postgres and Redis are
 * processes of their own, and the attacks come from a thread, so that this process only measures. `--model-ms` is what the
 * model takes for an answer. Quiet and attacked rounds alternate.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

import { table } from '../src/cli/table.ts';
import { COSTLY_REQUESTS, COSTLY_TURNS, HI, VARIABLES } from '../test/support/costlyWork.ts';
import { type BenchProject, createProject, ONE_STEP } from './chat/project.ts';
import { startServer } from './chat/servers.ts';
import { openStores } from './chat/stores.ts';
import { tokenRequestText } from './chat/tokenRequest.ts';
import { compileProgram } from './support/compile.ts';
import { percentile } from './support/statistics.ts';

const AIM = 'p99 attacked at most twice p99 quiet';
const TOKENS = 5;
const WARM_UP_CHATS = 30;
/** The attacks have begun to be answered. */
const ATTACK_LEAD_MS = 1_000;

const { values: options } = parseArgs({
  options: {
    chats: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
    'model-ms': { type: 'string', default: '300' },
    embedded: { type: 'boolean', default: false },
  },
});
const chatsOfRound = Number(options.chats);
const gapMs = Math.round(Number(options['model-ms']) / TOKENS);
const question = { role: 'user', content: tokenRequestText({ tokens: TOKENS, gapMs }) };

const program = await compileProgram('chat/child.ts');
const stores = await openStores(options.embedded);
const upstream = await startServer('upstream', { program });
const environment = { ...stores.environment, REFUSES_OVERLOAD: 'true' };
const product = await startServer('product', { program, upstreamUrl: upstream.url, environment });
try {
  const victim = await createProject(product.url, { executionMode: 'balance' }, ONE_STEP);
  await victim.call('PATCH', '/agent', { status: 'published' });
  await chatTimes(victim, WARM_UP_CHATS);
  const quietMs: number[] = [];
  const attackedMs: number[] = [];
  for (let round = 0; round < Number(options.rounds); round += 1) {
    quietMs.push(...(await chatTimes(victim, chatsOfRound)));
    const end = await attack();
    attackedMs.push(...(await chatTimes(victim, chatsOfRound)));
    await end();
  }
  console.log(`Node ${process.version}; callway runs on ${stores.title}. Aim: ${AIM}.`);
  console.log(
    table([['chats', 'p50 ms', 'p99', 'max'], rowOf('quiet', quietMs), rowOf('attacked', attackedMs)]),
  );
  const ratio = (part: number) => (percentile(attackedMs, part) / percentile(quietMs, part)).toFixed(2);
  console.log(`Attacked beside quiet: p50 ${ratio(0.5)}, p99 ${ratio(0.99)}.`);
} finally {
  await product.close();
  await upstream.close();
  await stores.close();
}

/** One after the other. @returns Milliseconds from the request to the end of each answer. */
async function chatTimes({ baseUrl, key }: BenchProject, count: number): Promise<number[]> {
  const body = JSON.stringify({ messages: [question] });
  const found: number[] = [];
  for (let chat = 0; chat < count; chat += 1) {
    const startedMs = performance.now();
    const answer = await fetch(`${baseUrl}/chat/completions`, requestOf(key, 'POST', body));
    const text = await answer.text();
    if (!answer.ok) throw new Error(`A chat was answered ${answer.status}: ${text}`);
    found.push(performance.now() - startedMs);
  }
  return found;
}

/** A new project sends each of its requests over and over. @returns Ends it. */
async function attack(): Promise<() => Promise<void>> {
  const requests: object[] = [];
  const attacker = await createProject(product.url, {}, ONE_STEP);
  const { baseUrl, key } = attacker;
  for (const [, graph, agent] of COSTLY_TURNS) {
    // A session keeps the version that was published when it began.
    await attacker.call('PATCH', '/agent', { status: 'draft', ...agent });
    await attacker.call('PUT', '/pathway', graph);
    await attacker.call('PATCH', '/agent', { status: 'published' });
    const session_id = randomUUID();
    await attacker.call('POST', '/sessions', { session_id, variables: VARIABLES });
    const body = JSON.stringify({ messages: [HI], session_id });
    requests.push({ url: `${baseUrl}/chat/completions`, ...requestOf(key, 'POST', body) });
  }
  for (const [, method, path, body] of COSTLY_REQUESTS) {
    requests.push({ url: baseUrl + path, ...requestOf(key, method, JSON.stringify(body)) });
  }
  const thread = new Worker(new URL('../test/support/requestLoop.mjs', import.meta.url), {
    workerData: requests,
  });
  const ended = once(thread, 'exit');
  await new Promise((resolve) => setTimeout(resolve, ATTACK_LEAD_MS));
  return async () => {
    thread.postMessage('stop');
    await ended;
  };
}

function requestOf(key: string, method: string, body: string) {
  return { method, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, body };
}

function rowOf(title: string, ms: readonly number[]): string[] {
  return [title, ...[0.5, 0.99, 1].map((part) => percentile(ms, part).toFixed(0))];
}
