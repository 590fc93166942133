import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

/** Hands this process over to the command line: the built one where there is one, else its source. */
export async function runCommandLine() {
  const built = join(root, 'dist', 'cli', 'main.js');
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
  await import(pathToFileURL(join(root, 'src', 'cli', 'main.ts')).href);
}
