import { buildConsole, ensureConsoleDependencies } from '../lib/consoleBuild.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { build } from '../lib/serviceBuild.mjs';

/** Compiles the service and the SIP server into dist/, and the console into console/dist/. */
export async function run() {
  await Promise.all([ensureDependencies(), ensureConsoleDependencies()]);
  for (const { ok, output } of await Promise.all([build(), buildConsole()])) {
    if (output.trim()) console.log(output.trimEnd());
    if (!ok) process.exitCode = 1;
  }
}
