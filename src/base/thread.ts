import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Packages need no making ready, which for a large one takes seconds and more memory than a thread may have. */
const LEAVE_PACKAGES = `
import { readFile } from 'node:fs/promises';
export async function load(url, context, next) {
  if (!/\\/node_modules\\/.*\\.m?js$/.test(url) || context.format !== 'module') return next(url, context);
  return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true };
}`;

/**
 * Starts a worker thread from a file of ours, from TypeScript sources as from built JavaScript. A thread does not
 * inherit what makes sources run, so that there it loads it by itself.
 *
 * @param from - `import.meta.url` of the file that starts it.
 * @param name - The thread's file in the same folder, without its ending.
 */
export function startThread(from: string, name: string, options: WorkerOptions): Worker {
  if (!from.endsWith('.ts')) return new Worker(new URL(`./${name}.js`, from), options);
  const tsx = dirname(createRequire(from).resolve('tsx/package.json'));
  const loader = pathToFileURL(join(tsx, 'dist/esm/api/index.mjs')).href;
  const file = pathToFileURL(join(dirname(fileURLToPath(from)), `${name}.ts`)).href;
  const hooks = `data:text/javascript,${encodeURIComponent(LEAVE_PACKAGES)}`;
  const code = `import('${loader}').then(({ register }) => {
    register();
    require('node:module').register(${JSON.stringify(hooks)});
    return import('${file}');
  })`;
  return new Worker(code, { ...options, eval: true });
}
