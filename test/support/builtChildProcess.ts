import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { root } from '../../scripts/lib/paths.mjs';
import type { ProcessOptions } from '../../src/base/threads/childProcess.ts';
import { builtModule } from './builtModule.ts';

// By its address: vitest.config.ts resolves the relative path to this file.
const sources = (await import(
  pathToFileURL(join(root, 'src/base/threads/childProcess.ts')).href
)) as typeof import('../../src/base/threads/childProcess.ts');

export const { portOf, putLast, usageOf } = sources;

/** Starts a process of the program from the build of the test run, as `startThread` starts a thread. */
export function startProcess(module: URL, options: ProcessOptions = {}): ChildProcess {
  return sources.startProcess(builtModule(module) ?? module, options);
}
