import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { inject } from 'vitest';

import { ENTRIES } from '../../scripts/lib/bundle.mjs';
import { root } from '../../scripts/lib/paths.mjs';

// By its address: vitest.config.ts resolves the relative path to this file.
const { startThread: startFromSources } = (await import(
  pathToFileURL(join(root, 'src/base/thread.ts')).href
)) as typeof import('../../src/base/thread.ts');

const urlOf = (path: string) => pathToFileURL(join(root, path));
const builds = new Map(
  Object.entries(ENTRIES).map(([entry, source]) => [urlOf(source).href, urlOf(`dist/${entry}.js`)]),
);

/**
 * Starts a thread of the program from the build of the test run, which takes a quarter of the time: from sources each
 * thread compiles its files again. A thread of a test starts from its source.
 */
export function startThread(module: URL, options: WorkerOptions = {}): Worker {
  const build = inject('serviceEntry').endsWith('.js') ? builds.get(module.href) : undefined;
  return build ? new Worker(build, options) : startFromSources(module, options);
}
