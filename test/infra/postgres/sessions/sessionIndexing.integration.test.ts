import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import {
  indexSessions,
  startSessionIndexing,
} from '../../../../src/infra/postgres/sessions/sessionIndexing.ts';
import { createSimulatedClock } from '../../../support/simulatedClock.ts';
import { databases, migrated, type OpenDatabase } from '../support/databases.ts';
import { later, type SessionWorld, sessionWorld, user } from '../support/sessions.ts';

const NOW = { quietMs: 0 };
const HOUR_MS = 3_600_000;

describe.each(databases)('Session indexing on the $name database', ({ open }) => {
  let opened: OpenDatabase;
  let world: SessionWorld;
  beforeAll(async () => {
    opened = await migrated(open);
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    await opened.database.query('DELETE FROM session_text_changes');
    world = await sessionWorld(opened.database);
  });
  const count = async (text: string) =>
    (await world.stores.sessions.search(world.projectId, text, { limit: 1, offset: 0 })).total;
  const rows = async (table: 'session_grams' | 'session_text_changes') => {
    const [row] = await opened.database.query<{ n: number }>(
      `SELECT count(*)::integer AS n FROM ${table} WHERE project_id = $1`,
      [world.projectId],
    );
    return row?.n;
  };
  /** Runs `work` before a statement that starts with these words. */
  const interrupted = (words: string, work: () => Promise<unknown>): Database => {
    let isDone = false;
    const { transaction, session, close } = opened.database;
    const query: Database['query'] = async (sql, parameters) => {
      if (sql.includes(words) && !isDone) {
        isDone = true;
        await work();
      }
      return await opened.database.query(sql, parameters);
    };
    return { query, transaction, session, close };
  };

  test('indexes all changes once', async () => {
    await world.say(await world.start(), [user('Ωλ')]);
    expect([await rows('session_grams'), await rows('session_text_changes')]).toEqual([0, 2]);
    await indexSessions(opened.database, NOW);
    expect([await rows('session_grams'), await rows('session_text_changes')]).toEqual([1, 0]);
    expect([await count('Ωλ'), await count('λΩ')]).toEqual([1, 0]);
  });

  test('waits until a session is idle or has waited long enough', async () => {
    const session = await world.start();
    await indexSessions(opened.database);
    expect(await rows('session_grams')).toBe(0);
    await opened.database.query(`UPDATE session_text_changes SET at = at - interval '10 minutes'`);
    await world.say(session, [user('still talking')]);
    await indexSessions(opened.database, { quietMs: HOUR_MS, maxWaitMs: HOUR_MS });
    expect(await rows('session_grams')).toBe(0);
    await indexSessions(opened.database);
    expect([await rows('session_grams'), await rows('session_text_changes')]).toEqual([1, 0]);
  });

  test('finds texts that are added during indexing', async () => {
    const session = await world.start();
    const meanwhile = interrupted('FOR KEY SHARE', () => world.say(session, [user('Ωλ')]));
    await indexSessions(meanwhile, NOW);
    expect([await count('Ωλ'), await rows('session_text_changes')]).toEqual([1, 1]);
    await indexSessions(opened.database, NOW);
    expect([await count('Ωλ'), await rows('session_text_changes')]).toEqual([1, 0]);
  });

  test('keeps the newer result when a slower node finishes later', async () => {
    const session = await world.start();
    const slow = interrupted('FOR KEY SHARE', async () => {
      await world.say(session, [user('Ωλ')], later(5));
      await indexSessions(opened.database, NOW);
    });
    await indexSessions(slow, NOW);
    expect([await count('Ωλ'), await rows('session_text_changes')]).toEqual([1, 0]);
  });

  test('skips a session that ends meanwhile; an ended session leaves the index', async () => {
    const session = await world.start();
    await indexSessions(
      interrupted('FOR KEY SHARE', () => world.end(session)),
      NOW,
    );
    expect([await rows('session_grams'), await rows('session_text_changes')]).toEqual([0, 0]);
    const next = await world.say(await world.start(), [user('Ωλ')]);
    await indexSessions(opened.database, NOW);
    await world.end(next);
    expect([await count('Ωλ'), await rows('session_grams')]).toEqual([0, 0]);
  });

  test('indexes what a node of an earlier release writes', async () => {
    const { instanceId } = await world.start();
    await indexSessions(opened.database, NOW);
    await opened.database.query(
      `UPDATE session_texts SET data = '{"a":"Ωλ"}', updated_at = now() WHERE instance_id = $1`,
      [instanceId],
    );
    expect([await count('Ωλ'), await count('"variables"')]).toEqual([1, 0]);
    await indexSessions(opened.database, NOW);
    expect([await count('Ωλ'), await rows('session_text_changes')]).toEqual([1, 0]);
  });

  test('runs at an interval and stops between two sessions', async () => {
    const clock = createSimulatedClock();
    const errors: unknown[] = [];
    await world.start();
    await opened.database.query(`UPDATE session_text_changes SET at = at - interval '10 minutes'`);
    const stop = startSessionIndexing(opened.database, clock, { warn: (fields) => errors.push(fields) });
    clock.advance(15_000);
    await expect.poll(() => rows('session_grams')).toBe(1);
    await stop();
    await world.start();
    await indexSessions(opened.database, { ...NOW, isStopping: () => true });
    expect([await rows('session_grams'), errors]).toEqual([1, []]);
  });
});
