import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { endAs, runAttached } from '../lib/child.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';
import { ensureSystemParts } from '../lib/systemParts.mjs';

/**
 * Runs the service: what `npm run build` made when NODE_ENV is `production`, else the source.
 * Settings in a file `.env` beside package.json count where the environment does not have them.
 *
 * @param {string[]} args - For the service.
 */
export async function run(args) {
  const built = join(root, 'dist', 'main.js');
  const envFile = join(root, '.env');
  const hasEnvFile = existsSync(envFile);
  const settings = { ...(hasEnvFile ? parseEnv(readFileSync(envFile, 'utf8')) : {}), ...process.env };
  const isBuilt = settings.NODE_ENV === 'production' && existsSync(built);

  // A production installation is as its operator made it.
  if (!isBuilt) await ensureDependencies();
  if (!settings.REDIS_URL) {
    await ensureSystemParts(['redis'], {
      purpose: 'Callway keeps its queue in Redis, and this machine',
      instead: 'Or name a Redis server of your own in REDIS_URL.',
    });
  }
  const program = isBuilt ? [built] : ['--import', 'tsx', join(root, 'src', 'main.ts')];
  const nodeArgs = hasEnvFile ? [`--env-file=${envFile}`, ...program] : program;
  endAs(await runAttached(process.execPath, [...nodeArgs, ...args]));
}
