import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Packages are plain JavaScript: transforming a large one takes seconds and more memory than a thread may have. */
const LEAVE_PACKAGES = `
import { readFile } from 'node:fs/promises';
export async function load(url, context, next) {
  if (!/\\/node_modules\\/.*\\.m?js$/.test(url) || context.format !== 'module') return next(url, context);
  return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true };
}`;

/**
 * Starts a worker thread, from TypeScript sources or from the build. Threads do not inherit the TypeScript loader, so
 * each registers its own.
 *
 * @param module - The module's URL, such as `new URL('./checkThread.ts', import.meta.url)`; in the build the file ends
 *   in `.js`.
 */
export function startThread(module: URL, options: WorkerOptions = {}): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL(module.href.replace(/\.ts$/, '.js')), options);
  }
  const tsx = dirname(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = pathToFileURL(join(tsx, 'dist/esm/api/index.mjs')).href;
  const hooks = `data:text/javascript,${encodeURIComponent(LEAVE_PACKAGES)}`;
  const code = `import('${loader}').then(({ register }) => {
    register();
    require('node:module').register(${JSON.stringify(hooks)});
    return import('${module.href}');
  })`;
  return new Worker(code, { ...options, eval: true });
}
