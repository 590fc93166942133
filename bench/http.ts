/**
 * The cost of one of our JSON routes beside a bare fastify route, in CPU time of the serving process, without and with a
 * database below both; and the time from start to ready.
 *
 *   npm run bench:http [-- --rounds 9 --requests 20000 --profile FOLDER --without-starts --without-databases]
 *
 * Each server is a process of its own, loaded from here over loopback. Rounds alternate, so that a busy machine affects
 * all alike, and the median of the rounds' ratios counts.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import type { Server } from './http/child.ts';
import { type Contender, type Cost, type Load, startContender } from './http/contender.ts';
import { startMeasuredPostgres } from './http/postgres.ts';
import { measureStarts } from './http/starts.ts';
import { compileProgram } from './support/compile.ts';
import { median, rangeOf } from './support/statistics.ts';

/** Below what the slowest contender serves, so that all are equally busy. */
const LOAD: Load = { connections: 10, requestsPerSecond: 3_000 };
const LOAD_WITH_A_DATABASE: Load = { ...LOAD, requestsPerSecond: 300 };
/** Requests until the hot code is compiled. */
const WARM_UP_REQUESTS = 20_000;
/** Fewer, since a database is slower. */
const REQUESTS_TO_ONE_WITH_A_DATABASE = 10;
const WANTED_RATIO = 2;
const WANTED_START_SECONDS = 3;
const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    requests: { type: 'string', default: '20000' },
    profile: { type: 'string' },
    'without-starts': { type: 'boolean', default: false },
    'without-databases': { type: 'boolean', default: false },
  },
});
const rounds = Number(options.rounds);
const requests = Number(options.requests);

const program = await compileProgram('http/child.ts');
console.log(`PATCH of an agent; aim: at most ${WANTED_RATIO} times the bare route.`);
await compare('no database', 'none', requests);
if (!options['without-databases']) {
  const fewer = Math.ceil(requests / REQUESTS_TO_ONE_WITH_A_DATABASE);
  await compare('PGlite', 'embedded', fewer);
  const postgres = await startMeasuredPostgres();
  if (postgres === undefined) console.log('No Postgres with pgvector here, so none is measured.\n');
  else await compare('Postgres', postgres.url as Server['database'], fewer).finally(postgres.close);
}
if (!options['without-starts']) printStarts(await measureStarts());

/** Measures the bare route and ours over one kind of database, and prints the ratio. */
async function compare(where: string, database: Server['database'], amount: number): Promise<void> {
  const contenders: Contender[] = [];
  const load = database === 'none' ? LOAD : LOAD_WITH_A_DATABASE;
  try {
    for (const [kind, title] of [
      ['bare', 'bare fastify'],
      ['info', 'callway, log level info'],
      ['silent', 'callway, log level silent'],
    ] as const) {
      const server: Server = { kind, database, migrations: MIGRATIONS };
      contenders.push(await startContender(program, title, server, load, profiling(`${where} ${kind}`)));
    }
    printCosts(where, await measure(contenders, amount));
  } finally {
    await Promise.all(contenders.map((contender) => contender.close()));
  }
}

function profiling(name: string): string[] {
  return options.profile === undefined
    ? []
    : ['--cpu-prof', `--cpu-prof-dir=${options.profile}/${name.replaceAll(' ', '-')}`];
}

async function measure(all: readonly Contender[], amount: number): Promise<Map<string, Cost[]>> {
  for (const contender of all) await contender.round(Math.min(WARM_UP_REQUESTS, 2 * amount));
  const costs = new Map<string, Cost[]>(all.map(({ title }) => [title, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of all) costs.get(contender.title)?.push(await contender.round(amount));
  }
  return costs;
}

function printCosts(where: string, costs: ReadonlyMap<string, readonly Cost[]>): void {
  const whole = ({ user, system }: Cost) => user + system;
  const [bare = []] = costs.values();
  const rows = [...costs].map(([title, measured]) => {
    const ratios = measured.map((cost, round) => whole(cost) / whole(bare[round] ?? cost));
    return [
      title,
      median(measured.map(whole)).toFixed(1),
      median(measured.map(({ user }) => user)).toFixed(1),
      median(measured.map(({ system }) => system)).toFixed(1),
      median(ratios).toFixed(2),
      rangeOf(ratios, 2),
    ];
  });
  const head = [
    `${where}: median CPU time a request`,
    'all us',
    'user us',
    'system us',
    'times bare',
    'of all rounds',
  ];
  console.log(table([head, ...rows]));
}

function printStarts(starts: ReadonlyMap<string, readonly number[]>): void {
  console.log(`Start to ready with an existing embedded database; aim: under ${WANTED_START_SECONDS} s.`);
  const rows = [...starts].map(([title, seconds]) => [
    title,
    median(seconds).toFixed(2),
    rangeOf(seconds, 2),
  ]);
  console.log(table([['', 'median s', 'of all starts'], ...rows]));
}
