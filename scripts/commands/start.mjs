import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { endAs, runAttached } from '../lib/child.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';
import { freshBuild } from '../lib/serviceBuild.mjs';
import { ensureSystemParts, wantSystemParts } from '../lib/systemParts.mjs';

/**
 * Runs the service: what `npm run build` made when NODE_ENV is `production`, else the source as it is now, compiled
 * where it has changed.
 *
 * @param {string[]} args - For the service.
 */
export async function run(args) {
  const settings = readSettings();
  const built = join(root, 'dist', 'src', 'main.js');
  const isBuilt = settings.NODE_ENV === 'production' && existsSync(built);

  // A production installation is as its operator made it.
  if (!isBuilt) await ensureDependencies();
  if (!settings.REDIS_URL?.trim()) {
    await ensureSystemParts(['redis'], {
      purpose: 'Callway keeps its queue in Redis, and this machine',
      instead: 'Or name a Redis server of your own in REDIS_URL.',
    });
  }
  if (hearsOffline(settings)) {
    await wantSystemParts(['pocketsphinx'], {
      without: 'Until then calls go on without hearing words: keys and silence are understood.',
    });
  }
  const compiled = isBuilt ? built : await freshBuild();
  const program = compiled ? [compiled] : ['--import', 'tsx', join(root, 'src', 'main.ts')];
  endAs(await runAttached(process.execPath, [...program, ...args]));
}

/**
 * Whether speech is recognised on this machine: it is chosen, or no endpoint is named that could.
 *
 * @param {Record<string, string | undefined>} settings
 */
export function hearsOffline({ STT_PROVIDER, OPENAI_API_KEY, OPENAI_BASE_URL }) {
  const chosen = STT_PROVIDER?.trim();
  return chosen ? chosen === 'local' : !OPENAI_API_KEY?.trim() && !OPENAI_BASE_URL?.trim();
}

/**
 * The settings as the service will read them: the environment, and for what is not set there the file `.env`.
 *
 * @returns {Record<string, string | undefined>}
 */
function readSettings() {
  const file = join(root, '.env');
  return { ...(existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}), ...process.env };
}
