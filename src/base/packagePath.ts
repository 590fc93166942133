import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Where a file or folder of the package lies, whether this code runs from its source or from what was built of it,
 * which lies a folder deeper.
 *
 * @param path - Relative to the folder of package.json.
 * @returns Absolute path.
 * @throws {Error} When no folder above this file has a package.json.
 */
export function packagePath(path: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error('there is no package.json above the code of Callway');
    folder = dirname(folder);
  }
  return join(folder, path);
}
