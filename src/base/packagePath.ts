import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

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

/** The version of Callway, as package.json has it. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(packagePath('package.json'), 'utf8'));
  return z.object({ version: z.string() }).parse(manifest).version;
}
