import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Resolves a path of the package, for sources and for the build, which is one folder deeper.
 *
 * @param path - Relative to the folder of package.json.
 * @returns Absolute path.
 * @throws {Error} When no parent folder has a package.json.
 */
export function packagePath(path: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error('no package.json found above the code of Callway');
    folder = dirname(folder);
  }
  return join(folder, path);
}
