import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a worker thread, from TypeScript sources or from the build. A thread does not inherit the TypeScript loader;
 * from sources it registers its own.
 *
 * @param module - The thread's module, such as `new URL('./worker.ts', import.meta.url)`. In the build its name ends
 *   in `.js`.
 */
export function startThread(module: URL, options: WorkerOptions): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL(module.href.replace(/\.ts$/, '.js')), options);
  }
  const tsx = dirname(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = pathToFileURL(join(tsx, 'dist/esm/api/index.mjs')).href;
  const code = `import('${loader}').then(({ register }) => { register(); return import('${module.href}'); })`;
  return new Worker(code, { ...options, eval: true });
}
