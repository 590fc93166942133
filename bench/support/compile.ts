import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundle, ENTRIES } from '../../scripts/lib/bundle.mjs';

/** In the package's folder, since the service looks upwards for what belongs to it. */
const FOLDER = fileURLToPath(new URL('../../dist-bench', import.meta.url));
/** Beside the threads that the product starts. */
const PROGRAM = 'src/benchProgram';

/**
 * Compiles what is measured as `npm run build` compiles the service: what a loader does to code as it is read costs
 * each request, and each packet, something that production does not pay.
 *
 * @param program - Below `bench/`, such as `http/child.ts`.
 * @returns The program to fork.
 * @throws {Error} What the compiler has against the code.
 */
export async function compileProgram(program: string): Promise<string> {
  await rm(FOLDER, { recursive: true, force: true });
  const { ok, output } = await bundle(FOLDER, { ...ENTRIES, [PROGRAM]: `bench/${program}` });
  if (!ok) throw new Error(output);
  return join(FOLDER, `${PROGRAM}.js`);
}
