import { expect, test } from 'vitest';
import { migrate, readMigrations } from '../../../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../../../src/infra/postgres/connection/postgres.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { MIGRATIONS } from '../support/databases.ts';
import { agent, sessionWorld, user } from '../support/sessions.ts';

const TURNS = 505;
const MEASURED = 10;
const ANSWER =
  'Thank you, I have noted that. Which day of the week and what time would suit you best for it? ';

/** On a server of its own: the log's position counts what all databases write. */
test('A turn writes as much to the log at turn 500 as at turn 10', { timeout: 120_000 }, async () => {
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
      session = await world.say(session, [user(`Question ${turn} of this talk`), agent(ANSWER + turn, 800)]);
      positions.push(await written());
    }
    const bytesAt = (turn: number) => {
      const half = MEASURED / 2;
      return ((positions[turn + half] ?? 0) - (positions[turn - half] ?? 0)) / MEASURED;
    };
    expect(bytesAt(500) / bytesAt(10)).toBeLessThan(1.5);
    expect(bytesAt(500)).toBeLessThan(20_000);
  } finally {
    await database.close();
    await postgres.close();
  }
});
