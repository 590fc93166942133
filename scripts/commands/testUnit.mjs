import { ensureDependencies } from '../lib/dependencies.mjs';
import { Stop } from '../lib/stop.mjs';
import { ONLY_UNIT_TESTS } from '../lib/unitTestRun.mjs';
import { runTests } from './test.mjs';

/**
 * Runs the tests that need no servers and no system programs.
 *
 * @param {string[]} args - For vitest: files, `-t NAME` and so on.
 * @throws {Stop} For a file that needs more; beside other files vitest would leave it out without a word.
 */
export async function run(args) {
  const others = args.filter((arg) => /\.(integration|realtime)\.test\.ts$/.test(arg));
  if (others.length > 0)
    throw new Stop(
      `These need servers or real time. Run them with npm test -- FILE, which takes files of every kind:\n  ${others.join('\n  ')}`,
    );
  await ensureDependencies();
  await runTests([...ONLY_UNIT_TESTS, ...args]);
}
