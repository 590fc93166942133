import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { endAs, runAttached } from '../lib/child.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';
import { Stop } from '../lib/stop.mjs';

/**
 * Runs one measurement: the file `bench/NAME.ts`.
 *
 * @param {string[]} args - Its name, then what goes to it.
 * @throws {Stop} When there is no such measurement.
 */
export async function run([name = '', ...args]) {
  const folder = join(root, 'bench');
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const names = files.filter((file) => file.endsWith('.ts')).map((file) => file.slice(0, -'.ts'.length));
  if (!names.includes(name)) {
    throw new Stop(`There is no measurement "${name}". There are: ${names.join(', ') || 'none'}.`);
  }
  await ensureDependencies();
  endAs(await runAttached(process.execPath, ['--import', 'tsx', join(folder, `${name}.ts`), ...args]));
}
