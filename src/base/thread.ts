import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a worker thread from TypeScript sources (with tsx) as well as from built JavaScript. A thread does not inherit
 * what made its parent's TypeScript run, so that from sources it must load it itself.
 *
 * @param file - The thread's entry without its ending, such as `new URL('./mediaThread', import.meta.url)`; it has the
 *   ending of this file.
 */
export function startThread(file: URL, options: Omit<WorkerOptions, 'eval'>): Worker {
  if (!import.meta.url.endsWith('.ts')) return new Worker(new URL(`${file.href}.js`), options);
  const tsx = dirname(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = pathToFileURL(join(tsx, 'dist/esm/api/index.mjs')).href;
  const code = `import('${loader}').then(({ register }) => { register(); return import('${file.href}.ts'); })`;
  return new Worker(code, { ...options, eval: true });
}
