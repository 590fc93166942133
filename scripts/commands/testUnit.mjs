import { ensureDependencies } from '../lib/dependencies.mjs';
import { ONLY_UNIT_TESTS } from '../lib/unitTestRun.mjs';
import { runTests } from './test.mjs';

/**
 * Runs the tests that need no servers and no system programs.
 *
 * @param {string[]} args - For vitest: files, `-t NAME` and so on.
 */
export async function run(args) {
  await ensureDependencies();
  await runTests([...ONLY_UNIT_TESTS, ...args]);
}
