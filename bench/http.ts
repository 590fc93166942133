/**
 * What a JSON route of ours costs beside a bare fastify route, in CPU time of the serving process; and how long the
 * service takes from its start to being ready.
 *
 *   npm run bench:http [-- --rounds 9 --requests 20000 --profile FOLDER]
 *
 * Each server is a process of its own, loaded from here over loopback; rounds alternate, so that a busy machine hits
 * all alike, and the median counts.
 */
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import type { ServerName } from './http/child.ts';
import { type Contender, type Cost, startContender } from './http/contender.ts';
import { measureStarts } from './http/starts.ts';
import { median, rangeOf } from './support/statistics.ts';

const CONNECTIONS = 10;
/** Until the hot code is compiled. */
const WARM_UP_REQUESTS = 20_000;
const WANTED_RATIO = 1.4;
const WANTED_START_SECONDS = 3;

const TITLES: Record<ServerName, string> = {
  bare: 'bare fastify',
  product: 'callway, log level info',
  quiet: 'callway, log level silent',
};

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    requests: { type: 'string', default: '20000' },
    profile: { type: 'string' },
    'without-starts': { type: 'boolean', default: false },
  },
});

const contenders: Contender[] = [];
try {
  for (const name of ['bare', 'product', 'quiet'] as const) {
    const profiling =
      options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}/${name}`];
    contenders.push(await startContender(name, CONNECTIONS, profiling));
  }
  printCosts(await measure(contenders, Number(options.rounds), Number(options.requests)));
} finally {
  await Promise.all(contenders.map((contender) => contender.close()));
}
if (!options['without-starts']) printStarts(await measureStarts());

async function measure(
  all: readonly Contender[],
  rounds: number,
  requests: number,
): Promise<Map<ServerName, Cost[]>> {
  for (const contender of all) await contender.round(WARM_UP_REQUESTS);
  const costs = new Map<ServerName, Cost[]>(all.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of all) costs.get(contender.name)?.push(await contender.round(requests));
  }
  return costs;
}

function printCosts(costs: ReadonlyMap<ServerName, readonly Cost[]>): void {
  const parts: Record<string, (cost: Cost) => number> = {
    all: ({ user, system }) => user + system,
    user: ({ user }) => user,
    system: ({ system }) => system,
  };
  const rows = [...costs].map(([name, rounds]) => {
    const figures = Object.values(parts).map((part) => rounds.map(part));
    const bases = Object.values(parts).map((part) => median((costs.get('bare') ?? []).map(part)));
    return [
      TITLES[name],
      ...figures.flatMap((values, index) => [
        median(values).toFixed(1),
        (median(values) / (bases[index] ?? Number.NaN)).toFixed(2),
      ]),
      rangeOf(figures[0] ?? [], 1),
    ];
  });
  console.log(`PATCH of an agent, without a database; aim: at most ${WANTED_RATIO} times the bare route.`);
  const head = Object.keys(parts).flatMap((part) => [`${part} us`, 'times']);
  console.log(table([['median CPU time a request', ...head, 'all us, of all rounds'], ...rows]));
}

function printStarts(seconds: readonly number[]): void {
  console.log(`Start to ready with an existing embedded database; aim: under ${WANTED_START_SECONDS} s.`);
  console.log(
    table([
      ['', 'median s', 'of all starts'],
      ['callway', median(seconds).toFixed(2), rangeOf(seconds, 2)],
    ]),
  );
}
