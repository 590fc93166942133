import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundle, ENTRIES } from '../../scripts/lib/bundle.mjs';

/** In the package's folder, since the service looks upwards for what belongs to it. */
const FOLDER = fileURLToPath(new URL('../../dist-bench', import.meta.url));
const PROGRAM = 'src/benchServer';

/**
 * Compiles the servers that are measured as `npm run build` compiles the service: what a loader does to code as it is
 * read costs each request something that production does not pay.
 *
 * @returns The program to fork.
 * @throws {Error} What the compiler has against the code.
 */
export async function compileServers(): Promise<string> {
  await rm(FOLDER, { recursive: true, force: true });
  const { ok, output } = await bundle(FOLDER, { ...ENTRIES, [PROGRAM]: 'bench/chat/child.ts' });
  if (!ok) throw new Error(output);
  return join(FOLDER, `${PROGRAM}.js`);
}
