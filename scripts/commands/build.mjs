import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { endAs, runAttached } from '../lib/child.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { dependencyProgram, root } from '../lib/paths.mjs';

/** Compiles the service and the SIP server into an empty dist/, in the folders that their sources have. */
export async function run() {
  await ensureDependencies();
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  endAs(await runAttached(dependencyProgram('tsc'), ['-p', 'tsconfig.build.json']));
}
