/**
 * The cost of the SIP server beside Kamailio, under the same SIPp calls in the same run.
 *
 *   npm run bench:sip [-- --seconds 15 --rates 10,100,300 --without-memory --without-leaks --without-product --profile FOLDER]
 *
 * Each call: INVITE, 180, 200, ACK, BYE, 200. Ours asks an application over drachtio-srf in another process about each call
 * and keeps its dialog; Kamailio answers from its script within a transaction. Server, application, Kamailio and SIPp are
 * processes of their own. The whole product comes last, beside Kamailio again, at the call rates of one node. CPU is the
 * server's, from /proc. SIPp measures INVITE to 200. The time that the server waited for a CPU is reported beside: where it
 * is high, the times describe the machine and not the server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import { callers } from '../test/scenarios/callers.ts';
import { runSipp } from '../test/sip/support/sipp.ts';
import { reservePort } from '../test/support/ports.ts';
import {
  type Contender,
  type OwnServer,
  type Spent,
  startOurs,
  startProduct,
  startTheirs,
} from './sip/contenders.ts';

const HELD_DIALOGS = 5000;
const ALL_CALLS = 10_000;
/** Call rate where the rate itself is not measured. */
const BULK_RATE = 250;
/** Calls until the hot code is compiled. */
const WARM_UP = { calls: 3000, callsPerSecond: 150 };
/** Transactions live for 64 times T1. */
const LINGER_MS = 34_000;
/** A node carries one or two hundred calls, which start a few per second. */
const PRODUCT = { warmUp: { calls: 200, callsPerSecond: 10 }, rates: [5, 10] };
const WANTED = { p95Ms: 5, callsPerSecondAndCore: 300, bytesPerDialog: 10 * 1024 };

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    rates: { type: 'string', default: '10,100,300' },
    'without-memory': { type: 'boolean', default: false },
    'without-leaks': { type: 'boolean', default: false },
    'without-product': { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});

const profiling = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
const ours = await startOurs(profiling);
const theirs = await startTheirs();
let placed = 0;
try {
  await measureTimes([ours, theirs]);
  if (!options['without-memory']) await measureMemory(ours);
  if (!options['without-leaks']) await lookForLeaks(ours);
  if (!options['without-product']) await measureProduct(theirs);
} finally {
  await Promise.all([ours.close(), theirs.close()]);
}

async function measureTimes(contenders: readonly Contender[]): Promise<void> {
  for (const contender of contenders) await load(contender, WARM_UP.callsPerSecond, WARM_UP.calls);
  console.log(
    `INVITE to 200 and CPU; aim: p95 under ${WANTED.p95Ms} ms at 10 calls a second, ${WANTED.callsPerSecondAndCore} calls a second and core.`,
  );
  await compare(contenders, options.rates.split(',').map(Number));
}

async function measureProduct(peer: Contender): Promise<void> {
  const product = await startProduct();
  if (!product) {
    console.log('The whole product is not measured: there is no Postgres with pgvector, or no Redis.');
    return;
  }
  try {
    await load(product, PRODUCT.warmUp.callsPerSecond, PRODUCT.warmUp.calls);
    console.log('INVITE to 200 answered by the whole product, with Postgres and Redis on this machine.');
    await compare([product, peer], PRODUCT.rates);
  } finally {
    await product.close();
  }
}

async function compare(contenders: readonly Contender[], rates: readonly number[]): Promise<void> {
  const rows: string[][] = [];
  for (const rate of rates) {
    for (const contender of contenders) rows.push(await measure(contender, rate));
  }
  const heads = [
    'calls/s',
    '',
    'p50 ms',
    'p95 ms',
    'p99 ms',
    'CPU ms a call',
    'calls/s and core',
    'waited for CPU, ms a call',
    'application CPU ms a call',
  ];
  console.log(table([heads, ...rows]));
}

async function measure(contender: Contender, rate: number): Promise<string[]> {
  const before = contender.spent();
  const calls = rate * Number(options.seconds);
  const times = await load(contender, rate, calls);
  const after = contender.spent();
  const msPerCall = (name: keyof Spent) => ((after[name] - before[name]) * 1000) / calls;
  const quantiles = [0.5, 0.95, 0.99].map((share) => quantile(times, share));
  const perCore = (1000 / msPerCall('server')).toFixed(0);
  const costs = [msPerCall('waited'), msPerCall('application')];
  return [
    String(rate),
    contender.title,
    ...[...quantiles, msPerCall('server')].map((value) => value.toFixed(2)),
    perCore,
    ...costs.map((value) => value.toFixed(2)),
  ];
}

/** @returns Milliseconds from INVITE to 200 of each call, sorted. @throws {Error} When a call fails */
async function load(
  contender: Contender,
  callsPerSecond: number,
  calls: number,
  durationMs = 0,
): Promise<number[]> {
  const run = await runSipp({
    scenario: callers.answered,
    remote: `127.0.0.1:${contender.port}`,
    ...(contender.user === undefined ? {} : { user: contender.user }),
    localPort: await reservePort(),
    calls,
    callsPerSecond,
    durationMs,
    timeoutSeconds: Math.ceil(calls / callsPerSecond + durationMs / 1000 + 40),
    timed: true,
    extra: ['-l', String(HELD_DIALOGS * 2)],
  });
  if (run.exitCode !== 0) throw new Error(`SIPp failed against ${contender.title}: ${run.output}`);
  if (contender === ours) placed += calls;
  return run.responseTimesMs.toSorted((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Holds dialogs until only they are left of their calls. */
async function measureMemory(server: OwnServer): Promise<void> {
  await sleep(LINGER_MS);
  const before = await server.report();
  const placingMs = (HELD_DIALOGS / BULK_RATE) * 1000;
  const running = load(server, BULK_RATE, HELD_DIALOGS, placingMs + LINGER_MS + 5000);
  await sleep(placingMs + LINGER_MS);
  const held = await server.report();
  const dialogs = held['now.dialogs'] ?? 0;
  const heap = (held.heapBytes - before.heapBytes) / dialogs;
  const resident = (held.residentBytes - before.residentBytes) / dialogs;
  console.log(
    `Memory; aim: under ${WANTED.bytesPerDialog / 1024} KB. ${dialogs} dialogs held (${held['now.serverTransactions']} transactions): ${(heap / 1024).toFixed(2)} KB of heap each, ${(resident / 1024).toFixed(2)} KB of resident memory.`,
  );
  await running;
}

async function lookForLeaks(server: OwnServer): Promise<void> {
  if (placed < ALL_CALLS) await load(server, BULK_RATE, ALL_CALLS - placed);
  await sleep(LINGER_MS);
  const report = await server.report();
  const left = Object.entries(report).filter(([name, value]) => name.startsWith('now.') && value !== 0);
  console.log(
    `After ${placed} calls there is: ${left.map(([name, value]) => `${name.slice(4)} ${value}`).join(', ')}; internal errors ${report['errors.internal'] ?? 0}; heap ${(report.heapBytes / 1048576).toFixed(1)} MB.`,
  );
}
