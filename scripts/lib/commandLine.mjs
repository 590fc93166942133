import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

/**
 * Runs a program: the built one when it exists, otherwise its source.
 *
 * @param {string} path - The source without its extension, from the root: `src/cli/main`.
 */
export async function runProgram(path) {
  const built = join(root, 'dist', `${path}.js`);
  if (existsSync(built)) {
    await import(pathToFileURL(built).href);
    return;
  }
  if (!existsSync(join(root, 'node_modules', 'tsx'))) {
    console.error(`The dependencies of Callway are not installed: run "npm ci" in ${root} first.`);
    process.exitCode = 1;
    return;
  }
  const { register } = await import('tsx/esm/api');
  register();
  await import(pathToFileURL(join(root, `${path}.ts`)).href);
}
