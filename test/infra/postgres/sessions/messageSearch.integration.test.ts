import { beforeEach, describe, expect, test } from 'vitest';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { Queryable } from '../../../../src/infra/postgres/connection/database.ts';
import { historyStore } from '../../../../src/infra/postgres/sessions/history.ts';
import { useDatabase } from '../support/databases.ts';
import { countRowsRead } from '../support/rowsRead.ts';
import { type SessionWorld, sessionWorld } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };
const MANY = 1_000;
const FEW = 20;
/** Has the trigrams of `abcdef`, and not the text; long enough that a server uses its indexes for a thousand of them. */
const COMMON = 'the abcde of bcdef '.repeat(45);
/** The embedded database samples so many sessions. */
const SAMPLED = 200;

describe('A search of messages', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeEach(async () => {
    await run('DELETE FROM session_messages');
    world = await sessionWorld(opened.database);
  });

  const run = <Row>(sql: string, parameters: readonly (string | number)[] = []) =>
    opened.database.query<Row>(sql, parameters);

  /** An indexed session for each text. */
  async function speak(texts: readonly string[], { projectId } = world): Promise<void> {
    const ids = texts.map(() => uuidV7());
    await opened.database.query(
      `INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at, message_characters)
       SELECT id, $1, id, 'chat', 'ended', now(), octet_length(text)
       FROM unnest($2::uuid[], $3::text[]) AS session (id, text)`,
      [projectId, ids, texts],
    );
    await opened.database.query(
      `INSERT INTO session_messages (instance_id, project_id, message, text)
       SELECT id, $1, message, message::text
       FROM unnest($2::uuid[], $3::text[]) AS said (id, said), json_build_object('content', said) AS message`,
      [projectId, ids, texts],
    );
  }

  async function count(
    q: string,
    database: Queryable = opened.database,
    { projectId } = world,
  ): Promise<number> {
    const { total } = await historyStore(database).list(projectId, { q }, PAGE);
    return total;
  }

  test('reads the messages of its project alone, and few for a word that few of many contain', async () => {
    const beside = await sessionWorld(opened.database);
    await speak([...Array(MANY).fill(COMMON), 'xylophone'], beside);
    await speak([...Array(FEW - 1).fill(COMMON), `${COMMON} xylophone`]);
    await run('ANALYZE session_messages, session_history');
    for (const [what, q, project, found, mostRead] of [
      ['a word that all contain', 'The', world, FEW, 5 * FEW],
      ['a letter that all contain', 'e', world, FEW, 5 * FEW],
      ['a text whose parts all contain', 'abcdef', world, 0, 5 * FEW],
      ['a word that one contains', 'Xylophone', world, 1, 5 * FEW],
      ['a word that one of many contains', 'Xylophone', beside, 1, 2 * SAMPLED],
    ] as const) {
      const counting = countRowsRead(opened.database, 'session_messages');
      expect(await count(q, counting, project), what).toBe(found);
      expect(counting.rowsRead, what).toBeLessThan(mostRead);
    }
  });

  test.each([
    ['a common word', 'the'],
    ['characters without trigrams', '字'],
    ['a text that occurs nowhere', 'abcdef'],
  ])('reads a million characters in a statement where others wait for it: %s', async (_what, q) => {
    const { sharesSession } = opened.database;
    await speak(Array(FEW).fill(`${COMMON} 字`));
    await run('UPDATE session_history SET message_characters = 300000');
    const counting = countRowsRead(opened.database, 'session_messages');
    let most = 0;
    const each: Queryable = {
      ...(sharesSession && { sharesSession }),
      query: async (sql, parameters) => {
        const before = counting.rowsRead;
        const rows = await counting.query<never>(sql, parameters);
        most = Math.max(most, counting.rowsRead - before);
        return rows;
      },
    };
    expect(await count(q, each)).toBe(q === 'abcdef' ? 0 : FEW);
    expect(most).toBeLessThanOrEqual(sharesSession ? 3 : Number.POSITIVE_INFINITY);
  });
});
