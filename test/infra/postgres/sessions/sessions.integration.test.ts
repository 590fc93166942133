import { beforeEach, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { NO_PENDING_ROUTE, sessionData } from '../../../../src/engine/session/session.ts';
import type { Parameter } from '../../../../src/infra/postgres/connection/database.ts';
import { projectStore } from '../../../../src/infra/postgres/projects/projects.ts';
import { countNext } from '../../../../src/infra/postgres/results/countSessions.ts';
import { useDatabase } from '../support/databases.ts';
import {
  agent,
  BEGIN,
  ENDING,
  later,
  NOTHING,
  type SessionWorld,
  sessionWorld,
  user,
} from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };

describe('Sessions', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeEach(async () => {
    world = await sessionWorld(opened.database);
  });
  const found = async (text: string, page = PAGE) => {
    const { items, total } = await world.stores.sessions.search(world.projectId, text, page);
    return { ids: items.map(({ sessionId }) => sessionId), total };
  };
  const rowsOf = async (table: string, instanceId: string) =>
    (
      await opened.database.query<{ n: number }>(
        `SELECT count(*)::integer AS n FROM ${table} WHERE instance_id = $1`,
        [instanceId],
      )
    )[0]?.n;

  test('are read back exactly, including unusual texts and the order of keys', async () => {
    const variables = { z: 1, a: { 2: 'x', 1: ['\u0001', '\u{1f600}', '\\u0000', "'; --", 1e-7, null, {}] } };
    const session = await world.start({
      sessionId: 'any $ühr % _ \\ 電話',
      channel: 'web',
      provider: 'acme',
      callId: uuidV7(),
    });
    const state = {
      variables,
      messages: [
        user('說「你好」"\n\t'),
        { ...agent('a', 7), internal: true as const },
        {
          ...agent('b'),
          content: null,
          tool_calls: [
            { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{"b":1,"a":2}' } },
          ],
        },
      ],
      currentNodeId: 'n',
      hasSpoken: true,
      route: NO_PENDING_ROUTE,
      pendingToolCalls: [],
      summary: { text: 's', upTo: 2 },
      memory: 'm',
    };
    const next = { ...session, turn: 1, lastActivityAt: later(7), state };
    await world.stores.sessions.saveTurn(next, { messages: state.messages, events: [] });
    const read = await world.stores.sessions.find(world.projectId, session.sessionId);
    expect(read).toEqual({ ...next, characters: expect.any(Number) });
    const { messages, ...others } = state;
    expect(JSON.stringify(read?.state)).toBe(JSON.stringify({ ...others, messages }));
    const { items } = await world.stores.sessions.search(world.projectId, '你好', PAGE);
    expect(items).toEqual([
      { sessionId: session.sessionId, data: sessionData(next), createdAt: BEGIN, updatedAt: later(7) },
    ]);
  });

  test('with texts that Postgres cannot store can be shown and ended', async () => {
    const session = await world.start();
    const odd = 'a\0b\ud83d';
    const state = { ...session.state, variables: { [odd]: odd }, messages: [user(odd)] };
    const next = { ...session, turn: 1, state };
    const event = { type: 'tool_result', at: BEGIN, data: { result: odd } } as const;
    await world.stores.sessions.saveTurn(next, { messages: [user(odd)], events: [event] });
    const whole = 'a\ufffdb\ufffd';
    const kept = await world.stores.history.find(world.projectId, session.sessionId);
    expect(kept).toMatchObject({ variables: { [whole]: whole }, messages: [{ content: whole }] });
    expect(kept?.events.at(-1)?.data).toEqual({ result: whole });
    expect((await found(whole)).total).toBe(1);
    expect((await world.end(next))?.turn).toBe(1);
    expect(await world.stores.history.find(world.projectId, session.sessionId)).toMatchObject({
      status: 'ended',
      variables: { [whole]: whole },
    });
  });

  test('accept a turn after their end, once', async () => {
    const session = await world.start({ sessionId: 'late' });
    const said = await world.say(session, [user('one')]);
    await world.end(said);
    const variables = { wish: 'cake' };
    const next = { ...said, turn: 2, state: { ...said.state, variables } };
    const messages = [user('two'), agent('Two.', 120)];
    const event = { type: 'dtmf', at: later(5), data: { digits: '2' } } as const;
    for (let attempt = 1; attempt <= 2; attempt += 1)
      await world.stores.sessions.appendLateTurn(next, { messages, events: [event] });
    await world.stores.sessions.appendLateTurn(next, { messages: [], events: [event] });

    const kept = await world.stores.history.find(world.projectId, 'late');
    expect(kept?.messages).toEqual([user('one'), ...messages]);
    expect(kept?.events.filter(({ type }) => type === 'dtmf')).toEqual([event]);
    expect(kept?.variables).toEqual(variables);
    const [row] = await opened.database.query(
      'SELECT message_count, turns FROM session_history WHERE instance_id = $1',
      [session.instanceId],
    );
    expect(row).toEqual({ message_count: 3, turns: 2 });
  });

  test('go on with a full history: what it has no room for is not kept, nor what no turn reads', async () => {
    const long = 'x'.repeat(1_500_000);
    const texts = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    let session = await world.start({ sessionId: 'long', channel: 'phone' });
    for (const text of texts) session = await world.say(session, [user(text), user(long), agent(text)]);
    const found = await world.stores.sessions.find(world.projectId, 'long');
    expect(found?.state.messages).toEqual([agent('seven')]);
    expect(found?.characters).toBeGreaterThan(10_000_000);
    const before = await world.stores.sessions.messagesBefore(session);
    const kept = await world.stores.history.find(world.projectId, 'long');
    // The transcript, and the newest turn's.
    expect(before).toEqual([...(kept?.messages ?? []), user('seven'), user(long)]);
    expect(kept?.messages.map(({ content }) => content?.slice(0, 5))).toEqual(
      texts.slice(0, 3).flatMap((text) => [text, 'xxxxx', text]),
    );
    expect(kept?.events.slice(1)).toMatchObject([{ type: 'error', data: { code: 'history_full' } }]);
    await world.stores.history.addMessages(session.instanceId, [user('late')]);
    await world.end(session);
    const ended = await world.stores.history.find(world.projectId, 'long');
    expect([ended?.messages.length, ended?.events.at(-1)?.type]).toEqual([9, 'session_ended']);
  });

  test('keep two million characters of events', async () => {
    const event = { type: 'tool_result', at: later(5), data: { result: 'x'.repeat(900_000) } } as const;
    const session = await world.start({ sessionId: 'eventful' });
    const lastActivityAt = later(5);
    const storeTurn = (turn: number) =>
      world.stores.sessions.saveTurn(
        { ...session, turn, lastActivityAt },
        { messages: [user('a')], events: [event] },
      );
    for (const turn of [1, 2, 3, 4]) await storeTurn(turn);
    const kept = await world.stores.history.find(world.projectId, 'eventful');
    expect(kept?.messages.length).toBe(4);
    expect(kept?.events.map(({ type }) => type)).toEqual([
      'session_started',
      'tool_result',
      'tool_result',
      'error',
    ]);
  });

  test('have a unique id in their project while they are live', async () => {
    const session = await world.start({ sessionId: 'one' });
    await expect(world.start({ sessionId: 'one' })).rejects.toMatchObject({
      category: 'invalid',
      code: 'session_id_in_use',
    });
    expect(await rowsOf('session_history', session.instanceId)).toBe(1);
    const other = await sessionWorld(opened.database);
    await other.start({ sessionId: 'one' });
    expect(await other.stores.sessions.find(world.projectId, 'one')).toEqual(session);
    await world.end(session);
    const again = await world.start({ sessionId: 'one' });
    expect((await world.stores.sessions.find(world.projectId, 'one'))?.instanceId).toBe(again.instanceId);
  });

  test('accept the first of two turns with the same number, and nothing of the second', async () => {
    const session = await world.start();
    await world.say(session, [user('first')]);
    await expect(world.say(session, [user('second')])).rejects.toMatchObject({
      category: 'conflict',
      code: 'session_changed',
    });
    expect(await rowsOf('session_messages', session.instanceId)).toBe(1);
    expect((await found('second')).total).toBe(0);
    expect((await world.stores.sessions.find(world.projectId, session.sessionId))?.turn).toBe(1);
  });

  test('accept concurrent turns once', async () => {
    const session = await world.start();
    const racing = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((word) => world.say(session, [user(word)])),
    );
    expect(racing.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await rowsOf('session_messages', session.instanceId)).toBe(1);
  });

  test('increase updatedAt with every turn, even within a millisecond', async () => {
    const session = await world.start();
    const updatedAt = async () =>
      (await world.stores.sessions.search(world.projectId, 'variables', PAGE)).items[0]?.updatedAt;
    expect(await updatedAt()).toBe(BEGIN);
    const next = await world.say(session, [user('x')]);
    expect(await updatedAt()).toBe(later(1));
    await world.say(next, [user('x')], later(5_000));
    expect(await updatedAt()).toBe(later(5_000));
  });

  describe('The end of a session', () => {
    test('removes the state and succeeds for one of several callers', async () => {
      const session = await world.say(await world.start(), [user('a secret')]);
      const ends = await Promise.all([1, 2, 3].map(() => world.end(session)));
      expect(ends.filter(Boolean)).toMatchObject([session]);
      expect(await world.end(session)).toBeUndefined();
      expect(await world.stores.sessions.find(world.projectId, session.sessionId)).toBeUndefined();
      expect((await found('a secret')).total).toBe(0);
      expect(await rowsOf('webhook_outbox', session.instanceId)).toBe(1);
      expect(await rowsOf('webhook_events', session.instanceId)).toBe(2);
    });

    test.each([
      ['keeps the transcript alone', 30, false, 1],
      ['keeps nothing in a project without history', 0, false, 0],
      ['keeps the transcript for what reads it after the end', 0, true, 1],
    ])('%s', async (_what, historyRetentionDays, readsMessages, kept) => {
      const project = await sessionWorld(opened.database, { historyRetentionDays });
      const inner = { ...agent('inner thoughts'), internal: true as const };
      const session = await project.say(await project.start(), [user('hi'), inner]);
      expect(await rowsOf('session_messages', session.instanceId)).toBe(2);
      await project.end(session, { readsMessages });
      expect(await rowsOf('session_messages', session.instanceId)).toBe(kept);
    });

    test('rejects a turn that is still running', async () => {
      const session = await world.start();
      await world.end(session);
      await expect(world.say(session, [user('late')])).rejects.toMatchObject({ code: 'session_changed' });
      expect(await rowsOf('session_messages', session.instanceId)).toBe(0);
    });

    test('includes the turn that was stored just before it', async () => {
      const session = await world.start();
      const asked: number[] = [];
      const ended = await world.stores.sessions.end(world.projectId, session.sessionId, async ({ turn }) => {
        asked.push(turn);
        const state = { ...session.state, variables: { late: true } };
        if (turn === 0) await world.say({ ...session, state }, [user('x')]);
        return ENDING;
      });
      expect(ended?.turn).toBe(1);
      expect(asked).toEqual([0, 1]);
      const kept = await world.stores.history.find(world.projectId, session.sessionId);
      expect(kept).toMatchObject({ status: 'ended', variables: { late: true } });
    });

    test('leaves a session that does not match, whatever was stored just before', async () => {
      const session = await world.start();
      const ended = await world.stores.sessions.end(world.projectId, session.sessionId, async ({ turn }) => {
        if (turn > 0) return undefined;
        await world.say(session, [user('still here')]);
        return ENDING;
      });
      expect(ended).toBeUndefined();
      expect((await world.stores.sessions.find(world.projectId, session.sessionId))?.turn).toBe(1);
      expect(await rowsOf('webhook_outbox', session.instanceId)).toBe(0);
    });

    test('retries with a session that took the id meanwhile', async () => {
      const session = await world.start();
      let asked = 0;
      const ended = await world.stores.sessions.end(world.projectId, session.sessionId, async () => {
        asked += 1;
        if (asked === 1) {
          await world.end(session);
          await world.start({ sessionId: session.sessionId });
        }
        return ENDING;
      });
      expect(asked).toBe(2);
      expect(ended?.instanceId).not.toBe(session.instanceId);
    });
  });

  test('idle sessions are chat and web sessions beyond their project’s idle time', async () => {
    const patient = await sessionWorld(opened.database, { sessionIdleMinutes: 60 });
    const chat = await world.start({ sessionId: 'chat' });
    await world.start({ sessionId: 'web', channel: 'web' });
    await world.start({ sessionId: 'phone', channel: 'phone' });
    await world.say(await world.start({ sessionId: 'busy' }), [user('x')], later(60_000));
    await patient.start({ sessionId: 'patient' });
    const idle = async (minutes: number, limit = 1_000) =>
      (await world.stores.sessions.idle(new Date(Date.parse(BEGIN) + minutes * 60_000 + 1), limit))
        .filter(({ projectId }) => [world.projectId, patient.projectId].includes(projectId))
        .map(({ sessionId }) => sessionId)
        .sort();
    expect(await idle(4)).toEqual([]);
    expect(await idle(5)).toEqual(['chat', 'web']);
    expect(await idle(60)).toEqual(['busy', 'chat', 'patient', 'web']);
    const first = await world.stores.sessions.idle(new Date(), 1);
    const others = await world.stores.sessions.idle(new Date(), 1_000, first[0]);
    expect([...first, ...others]).toEqual(await world.stores.sessions.idle(new Date(), 1_000));
    expect(first).toHaveLength(1);
    await world.end(chat);
    expect(await idle(5)).toEqual(['web']);
  });

  test('chats without a setting are idle after 60 min, others after 30, and the agent’s setting goes first', async () => {
    const unset = await sessionWorld(opened.database, { sessionIdleMinutes: undefined });
    await unset.start({ sessionId: 'chat' });
    await unset.start({ sessionId: 'web', channel: 'web' });
    await unset.start({ sessionId: 'short chat', idleMinutes: 2 });
    await unset.start({ sessionId: 'long web', channel: 'web', idleMinutes: 90 });
    const idle = async (minutes: number) =>
      (await unset.stores.sessions.idle(new Date(Date.parse(BEGIN) + minutes * 60_000 + 1), 1_000))
        .filter(({ projectId }) => projectId === unset.projectId)
        .map(({ sessionId }) => sessionId)
        .sort();
    expect(await idle(1)).toEqual([]);
    expect(await idle(29)).toEqual(['short chat']);
    expect(await idle(30)).toEqual(['short chat', 'web']);
    expect(await idle(60)).toEqual(['chat', 'short chat', 'web']);
    expect(await idle(90)).toEqual(['chat', 'long web', 'short chat', 'web']);
    await unset.stores.projects.update(unset.projectId, { sessionIdleMinutes: 30 }, BEGIN);
    expect(await idle(30)).toEqual(['chat', 'short chat', 'web']);
  });

  test('are found by the digest of their conversation, within their project', async () => {
    const other = await sessionWorld(opened.database);
    const { sessions } = world.stores;
    const begin = async (sessionId: string, digest: string | null, at: string) => {
      const session = await world.start({ sessionId });
      await sessions.saveTurn({ ...session, turn: 1, digest, lastActivityAt: at }, NOTHING);
    };
    await begin('older', 'digest a', later(1));
    await begin('newer', 'digest a', later(2));
    await begin('b', 'digest b', later(3));
    await begin('none', null, later(4));
    const found = (digests: string[], except: string[] = []) =>
      sessions.findByDigest(world.projectId, digests, except);
    expect(await found(['digest a', 'digest b'])).toBe('newer');
    expect(await found(['digest b', 'digest a'])).toBe('b');
    expect(await found(['digest a'], ['newer'])).toBe('older');
    expect(await found(['digest a'], ['newer', 'older'])).toBeUndefined();
    expect(await found([])).toBeUndefined();
    expect(await other.stores.sessions.findByDigest(other.projectId, ['digest a'], [])).toBeUndefined();
    expect((await sessions.find(world.projectId, 'b'))?.digest).toBe('digest b');
  });

  test('are removed twenty at a time before their project is', async () => {
    const other = await sessionWorld(opened.database);
    await other.start({ sessionId: 'kept' });
    for (let index = 0; index < 22; index += 1) await world.end(await world.start());
    await world.start();
    await opened.database.query("UPDATE session_history SET ended_at = now() WHERE status = 'ended'");
    await countNext(opened.database);
    const removed: number[] = [];
    const query = async <Row>(sql: string, parameters?: readonly Parameter[]) => {
      const rows = await opened.database.query<Row>(sql, parameters);
      if (sql.startsWith('DELETE FROM session_history')) removed.push(rows.length);
      return rows;
    };
    await projectStore({ query }).removeContents(world.projectId);
    expect(removed).toEqual([20, 3, 0]);
    const kept = `SELECT FROM insight_removed WHERE project_id = $1`;
    expect(await opened.database.query(kept, [world.projectId])).toEqual([]);
    expect(await other.stores.sessions.find(other.projectId, 'kept')).toBeDefined();
  });

  test('are removed with their project', async () => {
    const session = await world.say(await world.start(), [user('x')]);
    const ended = await world.start();
    await world.end(ended);
    expect(await world.stores.projects.remove(world.projectId)).toBe(true);
    for (const table of ['sessions', 'session_history', 'session_messages', 'webhook_outbox']) {
      expect([table, await rowsOf(table, session.instanceId), await rowsOf(table, ended.instanceId)]).toEqual(
        [table, 0, 0],
      );
    }
  });
});
