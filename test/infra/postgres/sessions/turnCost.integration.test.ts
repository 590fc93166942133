import { expect, test } from 'vitest';

import { median } from '../../../../bench/support/statistics.ts';
import { migrate, readMigrations } from '../../../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { MIGRATIONS } from '../support/databases.ts';
import { agent, later, sessionWorld, user } from '../support/sessions.ts';

const TURNS = 500;
const MEASURED = 100;
const ANSWER =
  'Thank you, I have noted that. Which day of the week and what time would suit you best for it? ';

/** On a server of its own: the log's position counts what all databases write. */
test('A turn writes as much to the log late in a conversation as early', { timeout: 120_000 }, async () => {
  const postgres = await startPostgres();
  const database = openPostgres({ url: postgres.url, onIdleError: () => undefined });
  try {
    await migrate(database, await readMigrations(MIGRATIONS));
    await database.query('ALTER TABLE session_messages SET (autovacuum_enabled = off)');
    const world = await sessionWorld(database);
    const written = async () => {
      const [row] = await database.query<{ bytes: string }>(
        `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes`,
      );
      return Number(row?.bytes);
    };
    const positions: number[] = [await written()];
    let session = await world.start();
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const said = [user(`Question ${turn} of this talk`), agent(ANSWER + turn, 800)];
      session = await world.say(session, said, later(turn * 1_000));
      positions.push(await written());
    }
    const bytes = positions.slice(1).map((position, index) => position - (positions[index] ?? 0));
    // The turn that empties an index's pending list writes more.
    expect(median(bytes.slice(-MEASURED)) / median(bytes.slice(0, MEASURED))).toBeLessThan(1.2);
    expect(((positions.at(-1) ?? 0) - (positions[0] ?? 0)) / TURNS).toBeLessThan(12_000);
  } finally {
    await database.close();
    await postgres.close();
  }
});
