import { join } from 'node:path';
import { endAs, runAttached } from '../lib/child.mjs';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';
import { freshBuild } from '../lib/serviceBuild.mjs';
import { ensureSystemParts } from '../lib/systemParts.mjs';
import { wantConsole } from './start.mjs';

/**
 * Runs the demo, after installing what it needs.
 *
 * @param {string[]} args - For the demo.
 */
export async function run(args) {
  await ensureDependencies();
  if (!args.includes('--help')) {
    const chats = args.includes('--test') && !args.includes('--phone');
    const hears = !args.includes('--openai') && !args.includes('--speech') && !chats;
    /** @type {import('../lib/systemParts.mjs').Part[]} */
    const parts = hears ? ['redis', 'pocketsphinx'] : ['redis'];
    await ensureSystemParts(parts, {
      purpose: 'The demo uses Redis for its queue and pocketsphinx for speech recognition; this machine',
      instead: 'Then run npm run demo again. With --openai the demo does not need pocketsphinx.',
    });
  }
  if (args.includes('--console')) await wantConsole();
  const main = await freshBuild();
  const demo = main && join(root, 'dist', 'src', 'demo.js');
  const program = demo ? [demo] : ['--import', 'tsx', join(root, 'src', 'demo', 'main.ts')];
  endAs(await runAttached(process.execPath, [...program, ...args]));
}
