/**
 * What test runs need: 20 phone cases at once, and how late their RTP packets leave; 100 chat cases five times each, and
 * how long they take.
 *
 *   npm run bench:test-runs [-- --rounds 3 --phone-runs 2 --embedded]
 *
 * Each round starts the product anew, so that its first run finds nothing compiled. The phone cases are those of the demo's
 * restaurant, with the offline models, which need more of the machine than a vendor's; both ends of each call are in the
 * measured process, and so both are counted. The chat model is scripted. Exits with 1 when an aim is missed.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';

import { table } from '../src/cli/table.ts';
import { agentFolder, readDemoAgent } from '../src/demo/agents/demoAgent.ts';
import { type PlayoutCounts, playoutP99, readPlayout } from './calls/playout.ts';
import { type BenchProject, createProject, ONE_STEP } from './chat/project.ts';
import { type Server, startServer } from './chat/servers.ts';
import { openStores, type Stores } from './chat/stores.ts';
import { tokenRequestText } from './chat/tokenRequest.ts';
import { compileProgram } from './support/compile.ts';

const PHONE_CASES = 20;
const RTP_P99_AIM_MS = 5;
const CHAT_CASES = 100;
const CHAT_REPEAT = 5;
const CHAT_AIM_SECONDS = 60;
const POLL_MS = 200;
/** What the bounds of the product's histogram allow to tell. */
const SHOWN_MS = [1, 2, 4, 8] as const;

interface Run {
  readonly id: string;
  readonly status: string;
  readonly endedAt?: string | null;
  readonly cases?: readonly {
    readonly name: string;
    readonly runs: readonly {
      readonly status: string;
      readonly error?: string;
      readonly assertions: readonly {
        readonly type: string;
        readonly passed: boolean;
        readonly seen: unknown;
      }[];
    }[];
  }[];
}

interface Answer<Data> {
  readonly data: Data;
}

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    'phone-runs': { type: 'string', default: '2' },
    embedded: { type: 'boolean', default: false },
  },
});
const program = await compileProgram('chat/child.ts');
const rows = [['run', 'status', 'seconds', ...SHOWN_MS.map((ms) => `% in ${ms} ms`), 'RTP p99 ms at most']];
const stores = await openStores(options.embedded);
try {
  for (let round = 1; round <= Number(options.rounds); round++) await runPhoneCases(round, stores);
  await runChatCases(stores);
} finally {
  await stores.close();
}
console.log(`Node ${process.version}; callway runs on ${stores.title}.`);
console.log(`Aims: RTP p99 below ${RTP_P99_AIM_MS} ms; chat cases within ${CHAT_AIM_SECONDS} s.`);
console.log(table(rows));

/** Several runs in a fresh process. */
async function runPhoneCases(round: number, { environment }: Stores): Promise<void> {
  const product = await startServer('product', { program, environment });
  try {
    const { pathway, agent, tools } = await readDemoAgent('restaurant');
    if (tools.length > 0) throw new Error('The demo agent has tools, which this benchmark does not set up.');
    const project = await createProject(product.url, agent, pathway);
    const suite = parse(await readFile(join(agentFolder('restaurant'), 'phone.yaml'), 'utf8'));
    const cases = Array.from({ length: PHONE_CASES }, (_, n) => suite.cases[n % suite.cases.length]);
    const suiteId = await createSuite(project, cases);
    for (let run = 1; run <= Number(options['phone-runs']); run++) {
      const before = await readPlayout([{ role: '', server: product }]);
      const { status, seconds } = await play(project, suiteId, { concurrency: PHONE_CASES, seed: run });
      const after = await readPlayout([{ role: '', server: product }]);
      const p99Ms = playoutP99(before, after);
      if (!(p99Ms < RTP_P99_AIM_MS) || status !== 'passed') process.exitCode = 1;
      const shares = SHOWN_MS.map((ms) => shareWithin(before, after, ms).toFixed(1));
      rows.push([
        `phone, process ${round}, run ${run}`,
        status,
        seconds.toFixed(0),
        ...shares,
        String(p99Ms),
      ]);
    }
  } finally {
    await product.close();
  }
}

async function runChatCases({ environment }: Stores): Promise<void> {
  const upstream = await startServer('upstream', { program });
  const product: Server = await startServer('product', { program, upstreamUrl: upstream.url, environment });
  try {
    const project = await createProject(product.url, { executionMode: 'balance' }, ONE_STEP);
    const turns = [{ say: tokenRequestText({ tokens: 5, gapMs: 0 }) }];
    const assertions = [{ type: 'max_latency_ms', value: 60_000 }];
    const cases = Array.from({ length: CHAT_CASES }, (_, n) => ({ name: `Case ${n}`, turns, assertions }));
    const suiteId = await createSuite(project, cases);
    const { status, seconds } = await play(project, suiteId, { concurrency: 20, repeat: CHAT_REPEAT });
    if (!(seconds < CHAT_AIM_SECONDS) || status !== 'passed') process.exitCode = 1;
    const title = `chat, ${CHAT_CASES} cases ${CHAT_REPEAT} times`;
    rows.push([title, status, seconds.toFixed(0), ...SHOWN_MS.map(() => ''), '']);
  } finally {
    await product.close();
    await upstream.close();
  }
}

async function createSuite(project: BenchProject, cases: readonly object[]): Promise<string> {
  await project.call('PATCH', '/agent', { status: 'published' });
  const testCaseIds: string[] = [];
  for (const [n, one] of cases.entries()) {
    const made = (await project.call('POST', '/test-cases', { ...one, name: `Case ${n}` })) as { id: string };
    testCaseIds.push(made.id);
  }
  const body = { name: 'Bench', testCaseIds };
  return ((await project.call('POST', '/test-suites', body)) as Answer<{ id: string }>).data.id;
}

async function play(project: BenchProject, suiteId: string, body: object) {
  const startedMs = performance.now();
  const ask = async (method: string, path: string, sent?: object) =>
    ((await project.call(method, path, sent)) as Answer<Run>).data;
  let run = await ask('POST', `/test-suites/${suiteId}/runs`, body);
  while (!run.endedAt) {
    await sleep(POLL_MS);
    run = await ask('GET', `/test-runs/${run.id}`);
  }
  for (const { name, runs } of run.cases ?? []) {
    for (const { status, error, assertions } of runs.filter((one) => one.status !== 'passed')) {
      const failed = assertions.filter(({ passed }) => !passed);
      console.log(`${name}: ${status} ${error ?? ''} ${JSON.stringify(failed)}`);
    }
  }
  return { status: run.status, seconds: (performance.now() - startedMs) / 1000 };
}

/** In percent, of the packets between two readings. */
function shareWithin(from: PlayoutCounts, to: PlayoutCounts, ms: number): number {
  const between = (boundMs: number) => (to.get(boundMs) ?? 0) - (from.get(boundMs) ?? 0);
  return (100 * between(ms)) / between(Number.POSITIVE_INFINITY);
}
