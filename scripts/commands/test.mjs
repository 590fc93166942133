import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAttached } from '../lib/child.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';
import { ensureSystemParts, SIP_PEERS } from '../lib/systemParts.mjs';

/**
 * Test counts. A failure outside of a test counts as one failed test.
 *
 * @typedef {{ passed: number, failed: number }} Totals
 */

/**
 * Runs all tests against real servers and programs, after installing missing ones.
 *
 * @param {string[]} args - For vitest: files, `-t NAME` and so on.
 */
export async function run(args) {
  await ensureDependencies();
  await ensureSystemParts(neededParts(process.env), {
    purpose: 'The tests run against real servers; this machine',
    instead:
      'Or set servers for the tests: TEST_DATABASE_URL (a role that may create databases, with pgvector available) and TEST_REDIS_URL; TEST_WITHOUT_SIP_PEERS=1 skips the tests against SIPp, Kamailio and baresip.',
  });
  await runTests(args);
}

/**
 * Runs the tests and prints the totals as the last line: `N passed, N failed`.
 *
 * @param {string[]} args - For vitest.
 */
export async function runTests(args) {
  const { passed, failed } = await runVitest(args);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0 || passed === 0) process.exitCode = 1;
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
  ];
}

/**
 * @param {string[]} args
 * @returns {Promise<Totals>}
 */
async function runVitest(args) {
  const folder = mkdtempSync(join(tmpdir(), 'callway-totals-'));
  const file = join(folder, 'totals.json');
  try {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const env = { ...process.env, CALLWAY_TEST_TOTALS_FILE: file };
    const { code } = await runAttached(process.execPath, [vitest, 'run', ...args], { env });
    return readTotals(file, code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} file - Written by test/support/totalsReporter.ts; missing when vitest failed early.
 * @param {number | null} code - Vitest's exit code.
 * @returns {Totals}
 */
export function readTotals(file, code) {
  /** @type {Totals} */
  const { passed, failed } = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { passed: 0, failed: 0 };
  return { passed, failed: code === 0 ? failed : Math.max(failed, 1) };
}
