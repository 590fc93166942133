import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureDependencies } from '../lib/dependencies.mjs';
import { root } from '../lib/paths.mjs';

const TABLE = /(<!-- settings -->\n)[\s\S]*?(?=<!-- \/settings -->)/;

/** Writes `.env.example` and the table of docs/settings.md from the settings' schema. */
export async function run() {
  await ensureDependencies();
  const { register } = await import('tsx/esm/api');
  register();
  const url = pathToFileURL(join(root, 'src', 'app', 'settings', 'describe.ts')).href;
  const { envExample, settingsTable } = await import(url);
  const page = join(root, 'docs', 'settings.md');
  writeFileSync(join(root, '.env.example'), envExample());
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(TABLE, (_, opening) => opening + settingsTable()),
  );
  console.log('Wrote .env.example and docs/settings.md from src/app/settings/settings.ts.');
}
