import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';

import { ENTRIES } from '../../scripts/lib/bundle.mjs';
import { root } from '../../scripts/lib/paths.mjs';

const urlOf = (path: string) => pathToFileURL(join(root, path));
const builds = new Map(
  Object.entries(ENTRIES).map(([entry, source]) => [urlOf(source).href, urlOf(`dist/${entry}.js`)]),
);

/**
 * A module of the program in the build of the test run, which starts in a quarter of the time: from sources each thread or
 * process compiles its files again.
 *
 * @returns Undefined for a module of a test, and where there is no build.
 */
export function builtModule(module: URL): URL | undefined {
  return inject('serviceEntry').endsWith('.js') ? builds.get(module.href) : undefined;
}
