import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { endAs, runAttached } from '../lib/child.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';
import { Stop } from '../lib/stop.mjs';

/**
 * Runs the benchmark `bench/NAME.ts`.
 *
 * @param {string[]} args - Its name and its arguments.
 * @throws {Stop} When the benchmark does not exist.
 */
export async function run([name = '', ...args]) {
  const folder = join(root, 'bench');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const names = files.filter((file) => file.endsWith('.ts')).map((file) => file.slice(0, -'.ts'.length));
  if (!names.includes(name)) {
    throw new Stop(`Unknown benchmark "${name}". Available: ${names.join(', ') || 'none'}.`);
  }
  await ensureDependencies();
  endAs(await runAttached(process.execPath, ['--import', 'tsx', join(folder, `${name}.ts`), ...args]));
}
