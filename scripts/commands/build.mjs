import { ensureDependencies } from '../lib/dependencies.mjs';
import { build } from '../lib/serviceBuild.mjs';

/** Compiles the service and the SIP server into dist/. */
export async function run() {
  await ensureDependencies();
  const { ok, output } = await build();
  if (output.trim()) console.log(output.trimEnd());
  if (!ok) process.exitCode = 1;
}
