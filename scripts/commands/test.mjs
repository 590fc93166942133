import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mayRaisePriority, runAttached } from '../lib/child.mjs';
import { ensureConsoleDependencies } from '../lib/consoleBuild.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';
import { ensureSystemParts, SIP_PEERS, wantSystemParts } from '../lib/systemParts.mjs';

/** Folders and files whose tests wait for processes, leases, locks and requests most of their time. */
const WAITING_TESTS = [
  'test/e2e/',
  'test/docker/',
  'test/app/',
  'test/infra/redis/',
  'test/infra/postgres/connection/migrateUnderLoad.',
  'test/api/outages.',
];
/** Their calls, timers and processes wait more than they compute: four files at once leave a third of two cores. */
const REAL_TIME_TESTS = ['.realtime.test.ts', ...WAITING_TESTS];
/** Three at once use what those leave; each further worker loads and compiles the program again, for 30 s of CPU time. */
const OTHER_TESTS = [
  '--exclude=**/*.realtime.test.ts',
  ...WAITING_TESTS.map((path) => `--exclude=${path}**`),
  '--maxWorkers=3',
  // That of vitest.config.ts, and later optimization: V8 would compile for a tenth of the time what runs once or twice.
  '--execArgv=--max-semi-space-size=64',
  '--execArgv=--interrupt-budget=1000000',
];
/** Where both want it, a program gets six times the processor time of one that is eight above it. */
const NICENESS_OF_OTHERS = 8;
/** Where it may be raised: the others then get nine times the time of another program on the machine. */
const RAISED_NICENESS = -18;

/**
 * Results of a run. `failures` has the name of each failed test with its error; a failure outside of a test counts as one
 * failed test. `skipReasons` counts skipped tests by reason.
 *
 * @typedef {{ passed: number, failures: string[], skipped: number, skipReasons: Record<string, number> }} Totals
 */

/**
 * Runs all tests against real servers and programs, after installing missing ones.
 *
 * @param {string[]} args - For vitest: files, `-t NAME` and so on.
 */
export async function run(args) {
  await Promise.all([ensureDependencies(), ensureConsoleDependencies()]);
  await ensureSystemParts(neededParts(process.env), {
    purpose: 'The tests run against real servers; this machine',
    instead:
      'Or set servers for the tests: TEST_DATABASE_URL (a role that may create databases, with pgvector available) and TEST_REDIS_URL; TEST_WITHOUT_SIP_PEERS=1 skips the tests against SIPp, Kamailio and baresip.',
  });
  await wantSystemParts(['chromium'], { without: 'Until then the tests of the console are skipped.' });
  await (args.length > 0 ? runTests(args) : runAllTests());
}

/**
 * Runs the tests and prints which failed, why tests were skipped, and the totals as the last line.
 *
 * @param {string[]} args - For vitest.
 */
export async function runTests(args) {
  report(await runVitest(args));
}

/**
 * Runs the tests that need real time, and beside them, with what processor time they leave, all others. The output of the
 * others follows once both have ended. Where it is allowed, other programs on the machine come after both.
 */
async function runAllTests() {
  const realTimeNiceness = mayRaisePriority() ? RAISED_NICENESS : 0;
  const folder = mkdtempSync(join(tmpdir(), 'callway-tests-'));
  const output = openSync(join(folder, 'output'), 'a+');
  try {
    const others = runVitest(OTHER_TESTS, {
      stdio: ['ignore', output, output],
      niceness: realTimeNiceness + NICENESS_OF_OTHERS,
    });
    const inRealTime = await runVitest(REAL_TIME_TESTS, { niceness: realTimeNiceness });
    console.log('The tests that need no real time:');
    const totals = [inRealTime, await others];
    process.stdout.write(readFileSync(join(folder, 'output')));
    report(sumOf(totals));
  } finally {
    closeSync(output);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {Totals} totals */
function report(totals) {
  console.log(summaryOf(totals));
  const { passed, failures } = totals;
  if (failures.length > 0 || passed === 0) process.exitCode = 1;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {import('../lib/systemParts.mjs').Part[]}
 */
export function neededParts(env) {
  return [
    ...(env.TEST_REDIS_URL ? [] : /** @type {const} */ (['redis'])),
    ...(env.TEST_DATABASE_URL ? [] : /** @type {const} */ (['postgres', 'pgvector'])),
    'pocketsphinx',
    ...(env.TEST_WITHOUT_SIP_PEERS ? [] : SIP_PEERS),
    'promtool',
  ];
}

/**
 * @param {readonly string[]} args
 * @param {Parameters<typeof runAttached>[2]} [options]
 * @returns {Promise<Totals>}
 */
async function runVitest(args, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'callway-totals-'));
  const file = join(folder, 'totals.json');
  try {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const env = { ...process.env, CALLWAY_TEST_TOTALS_FILE: file };
    const { code } = await runAttached(process.execPath, [vitest, 'run', ...args], { env, ...options });
    return readTotals(file, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {Totals} totals
 * @returns {string} Each failure, and a line for each reason to skip tests; the last line is `N passed, N failed, N skipped`.
 */
export function summaryOf({ passed, failures, skipped, skipReasons }) {
  return [
    ...failures.map((failure) => `failed: ${failure}`),
    ...Object.entries(skipReasons).map(([reason, count]) => `skipped ${count}: ${reason}`),
    `${passed} passed, ${failures.length} failed, ${skipped} skipped`,
  ].join('\n');
}

/**
 * The totals of several runs.
 *
 * @param {readonly Totals[]} runs
 * @returns {Totals}
 */
export function sumOf(runs) {
  /** @type {Totals} */
  const sum = { passed: 0, failures: [], skipped: 0, skipReasons: {} };
  for (const { passed, failures, skipped, skipReasons } of runs) {
    sum.passed += passed;
    sum.failures.push(...failures);
    sum.skipped += skipped;
    for (const [reason, count] of Object.entries(skipReasons))
      sum.skipReasons[reason] = (sum.skipReasons[reason] ?? 0) + count;
  }
  return sum;
}

/**
 * @param {string} file - Written by test/support/totalsReporter.ts; missing when vitest failed early.
 * @param {number | null} code - Vitest's exit code.
 * @returns {Totals}
 */
export function readTotals(file, code) {
  /** @type {Totals} */
  const totals = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { passed: 0, failures: [], skipped: 0, skipReasons: {} };
  if (code !== 0 && totals.failures.length === 0)
    totals.failures.push(`vitest ended with ${code ?? 'a signal'}`);
  return totals;
}
