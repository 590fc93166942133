import { join } from 'node:path';
import { endAs, runAttached } from '../lib/child.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';

/**
 * Calls a software phone through each scripted speech vendor, and prints a table of what was heard.
 *
 * @param {string[]} args - For vitest: `-t NAME` and so on.
 */
export async function run(args) {
  await ensureDependencies();
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const env = { ...process.env, CALLWAY_VENDOR_CALLS: 'all' };
  endAs(await runAttached(process.execPath, [vitest, 'run', 'test/e2e/vendorCalls', ...args], { env }));
}
