import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundle, ENTRIES } from '../../scripts/lib/bundle.mjs';

/** In the package's folder, since the service looks upwards for its files. */
const FOLDER = fileURLToPath(new URL('../../dist-bench', import.meta.url));
/** Beside the product's thread modules. */
const PROGRAM = 'src/benchProgram';

/**
 * Compiles a benchmark's program as `npm run build` compiles the service: a loader costs each request and each packet
 * something that production does not pay.
 *
 * @param program - Below `bench/`, such as `http/child.ts`.
 * @returns The program to fork.
 * @throws {Error} With the compiler's messages.
 */
export async function compileProgram(program: string): Promise<string> {
  await rm(FOLDER, { recursive: true, force: true });
  const { ok, output } = await bundle(FOLDER, { ...ENTRIES, [PROGRAM]: `bench/${program}` });
  if (!ok) throw new Error(output);
  return join(FOLDER, `${PROGRAM}.js`);
}
