import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { type Session, sessionData } from '../../../../src/engine/session/session.ts';
import { indexSessions } from '../../../../src/infra/postgres/sessions/sessionIndexing.ts';
import { databases, migrated, type OpenDatabase } from '../support/databases.ts';
import { agent, type SessionWorld, sessionWorld, user } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };
const words = (count: number, prefix = 'message') =>
  Array.from({ length: count }, (_, index) => user(`${prefix} ${index}`));
const textsOf = ({ state: { messages } }: Session) => messages.map(({ content }) => content);

describe.each(databases)('Messages of live sessions on the $name database', ({ open }) => {
  let opened: OpenDatabase;
  let world: SessionWorld;
  beforeAll(async () => {
    opened = await migrated(open);
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    world = await sessionWorld(opened.database);
  });
  const find = async ({ sessionId }: Session): Promise<Session> => {
    const session = await world.stores.sessions.find(world.projectId, sessionId);
    if (!session) throw new Error('no session');
    return session;
  };
  const whole = async (session: Session): Promise<Session> => {
    const before = await world.stores.sessions.messagesBefore(session);
    return { ...session, state: { ...session.state, messages: [...before, ...session.state.messages] } };
  };
  const storedState = async ({ instanceId }: Session) => {
    const [row] = await opened.database.query<{ state: object }>(
      'SELECT state FROM sessions WHERE instance_id = $1',
      [instanceId],
    );
    if (!row) throw new Error('no session');
    return row.state;
  };
  test('a turn reads the newest 400, and the others are there', async () => {
    let session = await world.start();
    for (let n = 0; n < 5; n += 1) session = await world.say(session, words(100, `${n}:`));
    const found = await find(session);
    expect(found).toMatchObject(session);
    expect([found.state.messages.length, found.state.messagesBefore]).toEqual([400, 100]);
    expect(textsOf(await whole(found))).toEqual(
      [0, 1, 2, 3, 4].flatMap((n) => words(100, `${n}:`).map(({ content }) => content)),
    );
    expect(await storedState(session)).not.toHaveProperty('messages');
  });

  test('are searched as the API shows them, before and after they are indexed', async () => {
    const variables = { z: 1, text: 'a "b"\n\\ \u0001 \u{1f600} 電話', list: [null, { b: 1, a: 1e-7 }] };
    const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{"b":1}' } };
    const started = await world.start({ callId: 'call "1"', provider: 'p"' });
    const session = await world.say({ ...started, state: { ...started.state, variables } }, [
      user('說「你好」"\n\t\\'),
      { ...agent('inner'), internal: true },
      { ...agent('x'), content: null, tool_calls: [call] },
      { role: 'tool', content: 'done', at: started.startedAt, tool_call_id: 'c', name: 'f' },
      agent('last', 12),
    ]);
    const expected = JSON.stringify(sessionData(session));
    const [row] = await opened.database.query<{ text: string }>('SELECT live_session_text($1) AS text', [
      session.instanceId,
    ]);
    expect(row?.text).toBe(expected);
    for (const isIndexed of [false, true]) {
      if (isIndexed) await indexSessions(opened.database, { quietMs: 0 });
      const { items, total } = await world.stores.sessions.search(world.projectId, '你好', PAGE);
      expect([total, JSON.stringify(items[0]?.data)]).toEqual([1, expected]);
    }
  });

  test('searches page through indexed and changed sessions in one order', async () => {
    const at = (ms: number) => new Date(Date.parse('2026-01-01T12:00:00.000Z') + ms).toISOString();
    const sessions: Session[] = [];
    for (let n = 0; n < 6; n += 1) {
      const session = await world.start({ sessionId: `s${n}`, startedAt: at(0), lastActivityAt: at(0) });
      sessions.push(await world.say(session, [user('needle')], at(1_000 * (n + 1))));
    }
    await indexSessions(opened.database, { quietMs: 0 });
    const [first, , third] = sessions;
    if (!first || !third) throw new Error('no sessions');
    await world.say(first, [user('more')], at(9_000));
    await world.say(third, [user('more')], at(3_500));
    await world.end(await world.say(await world.start(), [user('needle')]));
    const pages = await Promise.all(
      [0, 2, 4, 6].map((offset) =>
        world.stores.sessions.search(world.projectId, 'needle', { limit: 2, offset }),
      ),
    );
    expect(pages.map(({ total, items }) => [total, ...items.map(({ sessionId }) => sessionId)])).toEqual([
      [6, 's0', 's5'],
      [6, 's4', 's3'],
      [6, 's2', 's1'],
      [6],
    ]);
    const more = await world.stores.sessions.search(world.projectId, 'more', PAGE);
    expect([more.total, more.items.map(({ sessionId }) => sessionId)]).toEqual([2, ['s0', 's2']]);
  });
});
