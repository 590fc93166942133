import { spawnSync } from 'node:child_process';

import { describeFilled, measureDatabase } from './knowledge/database.ts';
import { measureQuality } from './knowledge/quality.ts';

/**
 * `npm run bench:knowledge`: what a query costs beside its own SQL, how many of the true nearest it finds, how fast
 * and in how much memory documents are made ready, and how often the right passage comes first.
 *
 * Options: `--vectors=N` (default 20,000), `--only=postgres|pglite|ingestion|quality`.
 */
const options = new Map(
  process.argv.slice(2).map((one) => one.replace(/^--/, '').split('=') as [string, string]),
);
const only = options.get('only');
const vectors = Number(options.get('vectors') ?? 20_000);
const wants = (name: string) => only === undefined || only === name;

if (wants('postgres')) console.log(describeFilled(await measureDatabase('postgres', vectors)));
if (wants('pglite')) console.log(describeFilled(await measureDatabase('pglite', vectors)));
if (wants('quality')) await measureQuality();
if (wants('ingestion')) {
  // A process of its own, so that its memory is its own.
  const file = new URL('./knowledge/ingestion.ts', import.meta.url).pathname;
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', file], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
