import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Path of a dependency's program.
 *
 * @param {string} name - As npm links it: `tsc`.
 */
export function dependencyProgram(name) {
  return join(root, 'node_modules', '.bin', name);
}
