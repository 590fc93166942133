import { beforeEach, describe, expect, test } from 'vitest';

import { type Session, sessionData } from '../../../../src/engine/session/session.ts';
import type { Queryable } from '../../../../src/infra/postgres/connection/database.ts';
import { sessionStore } from '../../../../src/infra/postgres/sessions/sessions.ts';
import { databases, migrated, openServerDatabase, useDatabase } from '../support/databases.ts';
import { countRowsRead } from '../support/rowsRead.ts';
import { agent, BEGIN, later, type SessionWorld, sessionWorld, user } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };

/** The texts that a search reads: each message's JSON, and that of the data before and behind the messages. */
function textsOf(session: Session): string[] {
  const { variables, messages, ...others } = sessionData(session);
  const head = `{"variables":${JSON.stringify(variables)},"messages":[`;
  return [...messages.map((one) => JSON.stringify(one)), head, `],${JSON.stringify(others).slice(1)}`];
}

describe.each(databases)('A session search on the $name database', ({ open }) => {
  const opened = useDatabase(open);
  let world: SessionWorld;
  beforeEach(async () => {
    world = await sessionWorld(opened.database);
  });
  const found = async (text: string, page = PAGE) => {
    const { items, total } = await world.stores.sessions.search(world.projectId, text, page);
    return { ids: items.map(({ sessionId }) => sessionId), total };
  };

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
    ['a line break is not found where none was said', 'one two', '\n', 0],
    ['an empty list is not found where there is none', 'x', '[]', 0],
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

  test('finds variables by value, key and both, and the other fields of the data', async () => {
    const started = await world.start({ callId: 'call "1"', provider: 'acme', channel: 'web' });
    const variables = { name: 'Ada "Countess"', guests: 2, list: [null, { café: true }] };
    await world.say({ ...started, state: { ...started.state, variables } }, [user('x')], later(7));
    const texts = ['Ada "Countess"', '"guests":2', 'guests', '[null,{"café":true}]', '"provider":"acme"'];
    for (const text of [...texts, '"channel":"web"', 'call "1"', started.pathwayId, later(7)])
      expect([text, (await found(text)).total]).toEqual([text, 1]);
  });

  test('returns the last changed first, in pages, with the total count', async () => {
    for (const [index, sessionId] of ['c', 'a', 'b', 'd'].entries()) {
      const session = await world.start({ sessionId });
      await world.say(session, [user('needle')], later(index < 2 ? 500 : index * 1000));
    }
    await world.start({ sessionId: 'none' });
    const other = await sessionWorld(opened.database);
    await other.say(await other.start(), [user('needle')]);
    await world.end(await world.say(await world.start(), [user('needle')]));
    expect(await found('needle')).toEqual({ ids: ['d', 'b', 'a', 'c'], total: 4 });
    expect(await found('needle', { limit: 2, offset: 1 })).toEqual({ ids: ['b', 'a'], total: 4 });
    expect(await found('needle', { limit: 2, offset: 9 })).toEqual({ ids: [], total: 4 });
    expect(await found('haystack')).toEqual({ ids: [], total: 0 });
  });

  test.each([
    ['', 0],
    [' in batches of three sessions', 300_000],
  ])('finds and counts the same by the index and by reading%s', async (_how, characters) => {
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
    const sessions: Session[] = [];
    for (let index = 0; index < 44; index += 1) {
      const words = `${index % 2 === 0 ? 'even "yes"' : 'odd'} ${index === 17 ? rare.join(' ') : 'plain'}`;
      const started = await world.start({ sessionId: `s${index}` });
      sessions.unshift(await world.say(started, [user(words), agent('Yes.')], later(index * 1000)));
    }
    await opened.database.query('UPDATE session_history SET message_characters = message_characters + $1', [
      characters,
    ]);
    const common = ['e', 'ev', 'even', 'd p', '"content":"odd', '"content":"', '"yes"', '"status":"active"'];
    const others = [
      'lastActivityAt',
      '"}',
      '{"variables":{},"messages":[',
      'nowhere',
      '~',
      'zq',
      '":~',
      '}{',
    ];
    for (const text of [...rare, ...common, ...others]) {
      const escaped = JSON.stringify(text).slice(1, -1);
      const holding = sessions.filter((one) =>
        textsOf(one).some((part) => part.includes(text) || part.includes(escaped)),
      );
      const ids = holding.map(({ sessionId }) => sessionId);
      const pages = [await found(text, { limit: 5, offset: 0 }), await found(text, { limit: 5, offset: 3 })];
      expect([text, pages]).toEqual([
        text,
        [
          { ids: ids.slice(0, 5), total: ids.length },
          { ids: ids.slice(3, 8), total: ids.length },
        ],
      ]);
    }
  });

  test('shows the data of a session to the letter', async () => {
    const variables = { z: 1, text: 'a "b"\n\\ \u0001 \u{1f600} 電話 $&', list: [null, { b: 1, a: 1e-7 }] };
    const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{"b":1}' } };
    const started = await world.start({ callId: 'call "1"', provider: 'p"' });
    const session = await world.say({ ...started, state: { ...started.state, variables } }, [
      user('說「你好」"\n\t\\'),
      { ...agent('inner thoughts'), internal: true },
      { ...agent('x'), content: null, tool_calls: [call] },
      { role: 'tool', content: 'done', at: BEGIN, tool_call_id: 'c', name: 'f' },
      agent('last $1', 12),
    ]);
    await world.stores.history.addMessages(session.instanceId, [user('after a transfer')]);
    const { items, total } = await world.stores.sessions.search(world.projectId, '你好', PAGE);
    expect([total, JSON.stringify(items[0]?.data)]).toEqual([1, JSON.stringify(sessionData(session))]);
    for (const hidden of ['inner thoughts', 'after a transfer', 'latencyMs', 'nodeId'])
      expect((await found(hidden)).total).toBe(0);
  });

  test('leaves out sessions of tests', async () => {
    const started = await world.start();
    const test = { releaseId: '', toolMocks: [], allowRealTools: false };
    const session = await world.start({ sessionId: 'test', state: { ...started.state, test } });
    await world.say(session, [user('needle')]);
    expect([(await found('needle')).total, (await found('n')).total]).toEqual([0, 1]);
  });

  test('ends a page before it has more than four million characters', async () => {
    for (const sessionId of ['a', 'b', 'c'])
      await world.say(await world.start({ sessionId }), [user(`needle ${'x'.repeat(1_900_000)}`)]);
    const search = (cursor?: string) =>
      world.stores.sessions.search(world.projectId, 'needle', { ...PAGE, ...(cursor && { cursor }) });
    const first = await search();
    const second = await search(first.nextCursor ?? undefined);
    expect(
      [first, second].map(({ items, total }) => [items.map(({ sessionId }) => sessionId), total]),
    ).toEqual([
      [['a', 'b'], 3],
      [['c'], 3],
    ]);
    expect(second.nextCursor).toBeNull();
  });

  test('reads few messages for a rare text, and a million characters in a statement where others wait', async () => {
    for (let index = 0; index < 20; index += 1)
      await world.say(await world.start(), [
        user(`the abc ${index}`),
        agent(index === 7 ? 'xylophone' : 'Yes'),
      ]);
    await opened.database.query('UPDATE session_history SET message_characters = 300000');
    const read = async (text: string) => {
      const counting = countRowsRead(opened.database, 'session_messages');
      const steps: number[] = [];
      const query: Queryable['query'] = async (sql, parameters) => {
        const before = counting.rowsRead;
        const rows = await counting.query<never>(sql, parameters);
        steps.push(counting.rowsRead - before);
        return rows;
      };
      const { sharesSession = false } = opened.database;
      const { total } = await sessionStore({ query, sharesSession }).search(world.projectId, text, {
        limit: 1,
        offset: 0,
      });
      return { total, most: Math.max(...steps) };
    };
    const most = opened.database.sharesSession ? 6 : 40;
    expect(await read('~')).toMatchObject({ total: 0 });
    expect((await read('~')).most).toBeLessThanOrEqual(most);
    expect((await read('the abc')).most).toBeLessThanOrEqual(most);
    expect(await read('xylophone')).toMatchObject({ total: 1 });
  });
});

test('A search that takes too long fails with 503 search_timeout', async () => {
  const opened = await migrated(openServerDatabase);
  try {
    const world = await sessionWorld(opened.database);
    await world.start();
    const slow: Queryable = {
      ...opened.database,
      within: () => ({
        query: (sql, parameters) =>
          opened.database
            .within?.(50)
            .query(`${sql.replace('SELECT ', 'SELECT pg_sleep(1), ')}`, parameters) ??
          Promise.reject(new Error('no timeout')),
      }),
    };
    await expect(sessionStore(slow).search(world.projectId, '~', PAGE)).rejects.toMatchObject({
      category: 'unavailable',
      code: 'search_timeout',
    });
  } finally {
    await opened.close();
  }
});
