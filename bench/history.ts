/**
 * What a turn costs as its conversation grows: bytes in Postgres' log, and the time beside the model's.
 *
 *   npm run bench:history [-- --turns 505]
 *
 * Runs the conversation engine with a scripted model on a Postgres server of its own. Each row is the mean, and the
 * median time, of eleven turns around the named one.
 */

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { table } from '../src/cli/table.ts';
import { migrate, readMigrations } from '../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../src/infra/postgres/connection/postgres.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { startTalk } from './history/talk.ts';
import { median } from './support/statistics.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));
const SHOWN_TURNS = [10, 50, 100, 200, 500, 1_000];
/** Before and after the named turn. */
const AROUND = 5;

const { values: options } = parseArgs({ options: { turns: { type: 'string', default: '505' } } });

const postgres = await startPostgres();
const database = openPostgres({ url: postgres.url, onIdleError: (error) => console.error(error.message) });
try {
  await migrate(database, await readMigrations(MIGRATIONS));
  const talk = await startTalk(database);
  const positions: number[] = [await logPosition()];
  const times: number[] = [0];
  for (let turn = 1; turn <= Number(options.turns); turn += 1) {
    const began = performance.now();
    await talk.say(`Question number ${turn}: when can I come to have my teeth looked at?`);
    times.push(performance.now() - began);
    positions.push(await logPosition());
  }
  const rows = SHOWN_TURNS.filter((turn) => turn + AROUND < positions.length).map((turn) => {
    const [from, to] = [turn - AROUND, turn + AROUND];
    const bytes = ((positions[to] ?? 0) - (positions[from - 1] ?? 0)) / (to - from + 1);
    const ms = median(times.slice(from, to + 1));
    return [String(turn), `${(bytes / 1024).toFixed(1)} KiB`, `${ms.toFixed(1)} ms`];
  });
  console.log(table([['turn', 'log', 'time'], ...rows]));
} finally {
  await database.close();
  await postgres.close();
}

async function logPosition(): Promise<number> {
  const [row] = await database.query<{ bytes: string }>(
    `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes`,
  );
  return Number(row?.bytes);
}
