import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { ALWAYS_SHOWN, sessionData } from '../../../../src/engine/session/session.ts';
import type { Database } from '../../../../src/infra/postgres/connection/database.ts';
import {
  indexSessions,
  startSessionIndexing,
} from '../../../../src/infra/postgres/sessions/sessionIndexing.ts';
import { createSimulatedClock } from '../../../support/simulatedClock.ts';
import { databases, migrated, type OpenDatabase } from '../support/databases.ts';
import { agent, later, type SessionWorld, sessionWorld, user } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };
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
    await opened.database.query('UPDATE session_history SET index_after = NULL');
    world = await sessionWorld(opened.database);
  });
  const count = async (text: string) =>
    (await world.stores.sessions.search(world.projectId, text, { limit: 1, offset: 0 })).total;
  const found = async (text: string, page = PAGE) => {
    const { items, total } = await world.stores.sessions.search(world.projectId, text, page);
    return { ids: items.map(({ sessionId }) => sessionId), total };
  };
  const rows = async (table: 'session_texts' | 'session_grams' | 'session_text_changes') => {
    const [row] = await opened.database.query<{ n: number }>(
      `SELECT count(*)::integer AS n FROM ${table} WHERE project_id = $1`,
      [world.projectId],
    );
    return row?.n;
  };
  /** How many sessions are not indexed. */
  const due = async () => {
    const [row] = await opened.database.query<{ n: number }>(
      'SELECT count(index_after)::integer AS n FROM session_history WHERE project_id = $1',
      [world.projectId],
    );
    return row?.n;
  };
  /** As if all had been quiet for ten minutes. */
  const passTenMinutes = async () => {
    await opened.database.query(
      `UPDATE session_history SET index_after = index_after - interval '10 minutes'`,
    );
    await opened.database.query(`UPDATE session_text_changes SET at = at - interval '10 minutes'`);
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
    expect([await rows('session_grams'), await due()]).toEqual([0, 1]);
    await indexSessions(opened.database, NOW);
    expect([await rows('session_grams'), await rows('session_text_changes'), await due()]).toEqual([1, 0, 0]);
    expect([await count('Ωλ'), await count('λΩ')]).toEqual([1, 0]);
  });

  test('leaves long texts to be read by searches, and indexes the others in statements of bounded size', async () => {
    const said = async (q: string) => {
      const { items } = await world.stores.history.list(world.projectId, { q }, PAGE);
      return items.map(({ sessionId }) => sessionId);
    };
    const long = `${'so on and on '.repeat(10_000)} Xylophone Ωλ`;
    const short = (index: number) => user(`short ${index} `.padEnd(40_000, '~'));
    const session = await world.say(await world.start(), [user(long), short(0), short(1)]);
    for (const index of [2, 3]) await world.say(await world.start(), [short(index)]);
    const sizes: number[] = [];
    const measured: Database['query'] = async (sql, parameters) => {
      if (sql.includes('SET content = message')) sizes.push([parameters?.[1]].flat().length);
      if (sql.includes('INTO session_grams')) sizes.push([parameters?.[0]].flat().length);
      return await opened.database.query(sql, parameters);
    };
    await indexSessions({ ...opened.database, query: measured }, NOW);
    expect(sizes).toEqual([1, 1, 1, 1, 1, 1]);
    expect([await rows('session_texts'), await rows('session_grams')]).toEqual([2, 2]);
    expect([await count('Xylophone'), await count('Ωλ'), await count('λΩ'), await count('short')]).toEqual([
      1, 1, 0, 3,
    ]);
    expect([await said('xylophone'), await said('and on so on'), await said('nowhere')]).toEqual([
      [session.sessionId],
      [session.sessionId],
      [],
    ]);
    await world.end(session);
    await passTenMinutes();
    await indexSessions(opened.database);
    expect([await count('Xylophone'), await said('xylophone'), (await said('short 1')).length]).toEqual([
      0,
      [session.sessionId],
      1,
    ]);
    expect(await due()).toBe(1);
  });

  test('waits until a session is quiet', async () => {
    const session = await world.start();
    await passTenMinutes();
    const said = await world.say(session, [user('still talking')]);
    await indexSessions(opened.database);
    expect([await rows('session_texts'), await due()]).toEqual([0, 1]);
    await passTenMinutes();
    await indexSessions(opened.database, { quietMs: HOUR_MS, maxWaitMs: HOUR_MS });
    expect([await rows('session_texts'), await due()]).toEqual([0, 1]);
    await indexSessions(opened.database);
    expect([await rows('session_texts'), await due()]).toEqual([1, 0]);
    await passTenMinutes();
    await indexSessions(opened.database);
    expect([await rows('session_grams'), await rows('session_text_changes')]).toEqual([1, 0]);
    expect([await count('still talking'), await count('nothing')]).toEqual([1, 0]);
    await world.say(said, [user('again')]);
    expect([await count('still talking'), await count('again'), await due()]).toEqual([1, 1, 1]);
  });

  test('indexes the words of an ended session at once, and searches find them before', async () => {
    const found = async () => {
      const { items } = await world.stores.history.list(world.projectId, { q: 'Last Words' }, PAGE);
      return items.length;
    };
    await world.end(await world.say(await world.start(), [user('my last words')]));
    expect([await found(), await due()]).toEqual([1, 1]);
    await indexSessions(opened.database);
    expect([await found(), await due()]).toEqual([1, 0]);
  });

  test('indexes a session again whose node failed while it did', async () => {
    await world.say(await world.start(), [user('Ωλ')]);
    const failing = interrupted('SET content', () => Promise.reject(new Error('lost')));
    await expect(indexSessions(failing, NOW)).rejects.toThrow('lost');
    expect([await count('Ωλ'), await due()]).toEqual([1, 1]);
    await indexSessions(opened.database, NOW);
    expect(await due()).toBe(1);
    await passTenMinutes();
    await indexSessions(opened.database);
    expect([await count('Ωλ'), await due()]).toEqual([1, 0]);
  });

  test('finds texts that are added during indexing', async () => {
    const session = await world.start();
    const meanwhile = interrupted('content IS NULL', () => world.say(session, [user('Ωλ')]));
    await indexSessions(meanwhile, NOW);
    expect([await count('Ωλ'), await due()]).toEqual([1, 1]);
    await indexSessions(opened.database, NOW);
    expect([await count('Ωλ'), await due()]).toEqual([1, 0]);
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

  test('runs at an interval and stops between two sessions', async () => {
    const clock = createSimulatedClock();
    const errors: unknown[] = [];
    await world.start();
    await passTenMinutes();
    const stop = startSessionIndexing(opened.database, clock, { warn: (fields) => errors.push(fields) });
    clock.advance(15_000);
    await expect.poll(() => rows('session_texts')).toBe(1);
    await stop();
    await world.start();
    await indexSessions(opened.database, { ...NOW, isStopping: () => true });
    expect([await rows('session_texts'), errors]).toEqual([1, []]);
  });

  describe('Session search', () => {
    test.each([
      ['case counts', 'Taipei', 'taipei', 0],
      ['a percent sign is literal', '100 percent', '100 %', 0],
      ['an underscore is literal', 'axb', 'a_b', 0],
      ['a percent sign is found', '100 % sure', '00 % s', 1],
      ['a backslash is found as written', 'C:\\temp', 'C:\\temp', 1],
      ['a backslash is found in its JSON form', 'C:\\temp', 'C:\\\\temp', 1],
      ['quotes are found as written', 'say "hi" now', '"hi"', 1],
      ['quotes are found in their JSON form', 'say "hi" now', '\\"hi\\"', 1],
      ['a line break is found', 'one\ntwo', 'one\ntwo', 1],
      ['one letter', 'q', 'q', 1],
      ['two CJK characters', '明天下午三點', '下午', 1],
      ['one CJK character', '明天下午三點', '點', 1],
      ['an emoji', 'fine \u{1f600}', '\u{1f600}', 1],
      ['keys of the JSON are found', 'x', '"role":"user"', 1],
      ['a missing text is not found', 'x', 'nowhere to be found', 0],
    ])('%s', async (_what, said, text, total) => {
      await world.say(await world.start(), [user(said)]);
      expect((await found(text)).total).toBe(total);
    });

    test('returns the last changed first, in pages, with the total count', async () => {
      for (const [index, sessionId] of ['c', 'a', 'b', 'd'].entries()) {
        const session = await world.start({ sessionId });
        await world.say(session, [user('needle')], later(index < 2 ? 500 : index * 1000));
      }
      await world.start({ sessionId: 'none' });
      const other = await sessionWorld(opened.database);
      await other.say(await other.start(), [user('needle')]);
      expect(await found('needle')).toEqual({ ids: ['d', 'b', 'a', 'c'], total: 4 });
      expect(await found('needle', { limit: 2, offset: 1 })).toEqual({ ids: ['b', 'a'], total: 4 });
      expect(await found('needle', { limit: 2, offset: 9 })).toEqual({ ids: [], total: 4 });
      expect(await found('haystack')).toEqual({ ids: [], total: 0 });
    });

    const asTheyAre = async () => undefined;
    const sortedIn = () => indexSessions(opened.database, { quietMs: 0 });
    test.each([
      ['no session is indexed', [asTheyAre, asTheyAre]],
      ['all are indexed', [asTheyAre, sortedIn]],
      ['some have changed since', [sortedIn, asTheyAre]],
    ])('finds and counts the same with every plan when %s', async (_when, [before, after]) => {
      const rare = [
        'xylophone',
        'Ωλ',
        'Ωλψ',
        '😀',
        'ω',
        'qz',
        '§',
        'say \\"no\\"',
        'a "q',
        '\\\\',
        'e"',
        '": "',
      ];
      const texts: { id: string; text: string; at: number }[] = [];
      for (let index = 0; index < 44; index += 1) {
        const words = `${index % 2 === 0 ? 'even "yes"' : 'odd'} ${index === 17 ? rare.join(' ') : 'plain'}`;
        const started = await world.start({ sessionId: `s${index}` });
        const said = await world.say(started, [user(words)], later(index * 1000));
        texts.push({ id: `s${index}`, text: JSON.stringify(sessionData(said)), at: index });
        if (index === 30) await before?.();
      }
      await after?.();
      const common = [
        'e',
        'ev',
        'even',
        'd p',
        '"content":"odd',
        '"content":"',
        '"yes"',
        '"status":"active"',
        'lastActivityAt',
        '"}',
      ];
      for (const text of [...rare, ...common, 'nowhere', '~', 'zq', '":~']) {
        const escaped = JSON.stringify(text).slice(1, -1);
        const holding = texts
          .filter((one) => one.text.includes(text) || one.text.includes(escaped))
          .reverse();
        const ids = holding.map(({ id }) => id);
        expect([text, await found(text, { limit: 5, offset: 0 })]).toEqual([
          text,
          { ids: ids.slice(0, 5), total: ids.length },
        ]);
        expect([text, await found(text, { limit: 5, offset: 3 })]).toEqual([
          text,
          { ids: ids.slice(3, 8), total: ids.length },
        ]);
      }
    });

    test('reads the fields that all sessions’ data have', async () => {
      const session = await world.start({ callId: 'c', provider: 'p' });
      const said = await world.say(session, [user('x'), agent('y')]);
      for (const one of [
        session,
        said,
        { ...said, callId: null, provider: null, channel: 'phone' as const },
      ]) {
        const text = JSON.stringify(sessionData(one));
        expect(ALWAYS_SHOWN.filter((part) => !text.includes(part))).toEqual([]);
      }
    });

    test('does not search what only the model sees', async () => {
      await world.say(await world.start(), [{ ...agent('inner thoughts'), internal: true }]);
      expect((await found('inner thoughts')).total).toBe(0);
    });
  });
});
