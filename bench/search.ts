/**
 * How long a search over all live sessions of a project takes, by what is searched.
 *
 *   npm run bench:search [-- --sessions 100000 --runs 7 --embedded]
 *
 * Runs on a Postgres server of its own, or with `--embedded` on PGlite. Each search answers the first fifty and the true
 * count of all, as `POST …/sessions/search` does.
 */

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import { openEmbedded } from '../src/storage/embedded.ts';
import { migrate, readMigrations } from '../src/storage/migrate.ts';
import { openPostgres } from '../src/storage/postgres.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { fill } from './search/fill.ts';
import { RARE, UNCOMMON } from './search/texts.ts';
import { median } from './support/statistics.ts';

const WANTED_MS = 100;
const PAGE = { limit: 50, offset: 0 };
const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));

const SEARCHES: readonly (readonly [what: string, text: string])[] = [
  ['in one session', RARE],
  ['in none', 'there is no such text'],
  ['a phrase in one of 80', UNCOMMON],
  ['a phrase in most', 'thank you very much'],
  ['a word in most', 'treatment'],
  ['a name in one of 12', 'Dmitri'],
  ['two Chinese characters in one of 12', '怡君'],
  ['a key and its value', '"isNew":true'],
  ['what stands in all', '"role":"user"'],
  ['one character in all', 'e'],
  ['one character in one of 12', 'ö'],
  ['one character in none', '~'],
  ['two characters in most', 'ed'],
  ['two characters in one of 12', 'Hi'],
  ['two characters in none', 'qz'],
];

const { values: options } = parseArgs({
  options: {
    sessions: { type: 'string', default: '100000' },
    runs: { type: 'string', default: '7' },
    embedded: { type: 'boolean', default: false },
  },
});

const { database, close } = options.embedded ? await embedded() : await server();
try {
  await migrate(database, await readMigrations(MIGRATIONS));
  const { projectId, stores, meanBytes } = await fill(database, Number(options.sessions));
  const rows: string[][] = [];
  for (const [what, text] of SEARCHES) {
    const times: number[] = [];
    let total = 0;
    // The first time reads what is not in memory yet.
    for (let run = -1; run < Number(options.runs); run += 1) {
      const began = performance.now();
      ({ total } = await stores.sessions.search(projectId, text, PAGE));
      if (run >= 0) times.push(performance.now() - began);
    }
    const middle = median(times);
    const range = `${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)}`;
    rows.push([what, text, String(total), middle.toFixed(0), range, middle < WANTED_MS ? '' : 'too long']);
  }
  console.log(
    `Search in ${options.sessions} sessions of ${(meanBytes / 1024).toFixed(1)} KiB, on ${options.embedded ? 'PGlite' : 'Postgres'}; aim: under ${WANTED_MS} ms.`,
  );
  console.log(table([['what is searched', 'text', 'found', 'median ms', 'of all runs', ''], ...rows]));
} finally {
  await close();
}

async function server() {
  const postgres = await startPostgres();
  const opened = openPostgres({ url: postgres.url, onIdleError: (error) => console.error(error.message) });
  return {
    database: opened,
    async close() {
      await opened.close();
      await postgres.close();
    },
  };
}

async function embedded() {
  const opened = await openEmbedded({ folder: 'memory://' });
  return { database: opened, close: () => opened.close() };
}
