import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';

const TABLE = /(<!-- settings -->\n)[\s\S]*?(?=<!-- \/settings -->)/;

/** Writes `.env.example` and the README's table of settings anew from the settings' own description. */
export async function run() {
  await ensureDependencies();
  const { register } = await import('tsx/esm/api');
  register();
  const url = pathToFileURL(join(root, 'src', 'config', 'describe.ts')).href;
  const { envExample, settingsTable } = await import(url);
  const readme = join(root, 'README.md');
  writeFileSync(join(root, '.env.example'), envExample());
  writeFileSync(
    readme,
    readFileSync(readme, 'utf8').replace(TABLE, (_, opening) => opening + settingsTable()),
  );
  console.log('.env.example and the table in README.md say what src/app/settings/settings.ts says.');
}
