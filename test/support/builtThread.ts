import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

import { root } from '../../scripts/lib/paths.mjs';
import { builtModule } from './builtModule.ts';

// By its address: vitest.config.ts resolves the relative path to this file.
const { startThread: startFromSources } = (await import(
  pathToFileURL(join(root, 'src/base/threads/thread.ts')).href
)) as typeof import('../../src/base/threads/thread.ts');

/** Starts a thread of the program from the build of the test run. A thread of a test starts from its source. */
export function startThread(module: URL, options: WorkerOptions = {}): Worker {
  const build = builtModule(module);
  return build ? new Worker(build, options) : startFromSources(module, options);
}
