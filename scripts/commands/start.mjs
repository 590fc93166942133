import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { endAs, runAttached } from '../lib/child.mjs';
import { ensureConsoleDependencies, freshConsole } from '../lib/consoleBuild.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';
import { freshBuild } from '../lib/serviceBuild.mjs';
import { Stop } from '../lib/stop.mjs';
import { ensureSystemParts, wantSystemParts } from '../lib/systemParts.mjs';

/**
 * Runs the service: the build in dist/ when NODE_ENV is `production`, otherwise the current sources, compiled when
 * they have changed.
 *
 * @param {string[]} args - For the service.
 */
export async function run(args) {
  const settings = readSettings();
  const built = join(root, 'dist', 'src', 'main.js');
  const isBuilt = settings.NODE_ENV === 'production' && existsSync(built);

  // A production installation must not be modified.
  if (!isBuilt) await Promise.all([ensureDependencies(), hasConsole(settings) && wantConsole()]);
  if (!settings.REDIS_URL?.trim()) {
    await ensureSystemParts(['redis'], {
      purpose: 'Callway uses Redis for its queue; this machine',
      instead: 'Or set REDIS_URL to an existing Redis server.',
    });
  }
  if (hearsOffline(settings)) {
    await wantSystemParts(['pocketsphinx'], {
      without: 'Until then calls run without speech recognition: only DTMF digits and silence are detected.',
    });
  }
  const compiled = isBuilt ? built : await freshBuild();
  const program = compiled ? [compiled] : ['--import', 'tsx', join(root, 'src', 'main.ts')];
  endAs(await runAttached(process.execPath, [...program, ...args]));
}

/** @param {Record<string, string | undefined>} settings */
export function hasConsole({ CONSOLE }) {
  return CONSOLE?.trim() !== 'false';
}

/** Builds the console; the service starts without it when that fails. */
export async function wantConsole() {
  try {
    await ensureConsoleDependencies();
    if (await freshConsole()) return;
    console.error('The console could not be built: npm run build prints why. The service starts without it.');
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    console.error(`${error.message} The service starts without its console.`);
  }
}

/**
 * Whether speech recognition runs offline: chosen explicitly, or by default without an endpoint.
 *
 * @param {Record<string, string | undefined>} settings
 */
export function hearsOffline({ STT_PROVIDER, OPENAI_API_KEY, OPENAI_BASE_URL }) {
  const chosen = STT_PROVIDER?.trim();
  return chosen ? chosen === 'local' : !OPENAI_API_KEY?.trim() && !OPENAI_BASE_URL?.trim();
}

/**
 * The settings as the service reads them: the environment takes precedence over the file `.env`.
 *
 * @returns {Record<string, string | undefined>}
 */
function readSettings() {
  const file = join(root, '.env');
  return { ...(existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}), ...process.env };
}
