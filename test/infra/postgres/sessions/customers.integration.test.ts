import { beforeEach, describe, expect, test } from 'vitest';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { Customers } from '../../../../src/calls/customers/customers.ts';
import type { CallRecordings } from '../../../../src/calls/recording/callRecordings.ts';
import type { TurnCheckpointStore } from '../../../../src/engine/session/interruptedTurn.ts';
import { newSessionState } from '../../../../src/engine/session/session.ts';
import { recordLateTurn } from '../../../../src/engine/session/sessionStore.ts';
import type { TurnSpool } from '../../../../src/engine/session/writeBehind.ts';
import { createSimulatedClock } from '../../../support/simulatedClock.ts';
import { unused } from '../../../support/unused.ts';
import { makeCall } from '../support/calls.ts';
import { useDatabase } from '../support/databases.ts';
import { BEGIN, type SessionWorld, sessionWorld, user } from '../support/sessions.ts';

const AUTHOR = { actor: { kind: 'secret' }, requestId: 'r' };
const PAGE = { limit: 50, offset: 0 };

describe('Customers', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeEach(async () => {
    world = await sessionWorld(opened.database);
  });

  const named = (key: string) => ({ projectId: world.projectId, key });
  const startAs = (customerId: unknown) => world.start({ state: newSessionState({ customerId }) });
  const count = async (table: string) => {
    const [row] = await opened.database.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${table}`);
    return row?.n;
  };
  const audited = async () => (await world.stores.audit.list(world.projectId, PAGE)).items;
  /** A node; files and checkpoints that it removes are in `removed`. */
  const node = (store = world.customers) => {
    const removed: string[] = [];
    const remove = async (id: string) => void removed.push(id);
    const customers = new Customers({
      store,
      checkpoints: unused<TurnCheckpointStore>('checkpoints', { drop: remove }),
      spool: unused<TurnSpool>('spool', { drop: async () => undefined }),
      forgetEvents: async () => undefined,
      recordings: unused<CallRecordings>('recordings', { remove, removeWorkingFile: async () => undefined }),
      digest: (text) => `digest of ${text.length}`,
      clock: createSimulatedClock(),
      makeId: uuidV7,
      onError: (error) => {
        throw error;
      },
    });
    return { customers, removed };
  };

  test.each([
    ['7', '7'],
    [7, '7'],
    ['  7\u00a0\n', '7'],
    ['Müller/電話', 'Müller/電話'],
    [1.5e300, '1.5e+300'],
  ])('with the id %j have the key %j, while their session lives and after', async (id, key) => {
    const session = await startAs(id);
    expect(await world.customers.find(named(key))).toMatchObject({ sessions: { total: 1 } });
    await world.end(session);
    expect(await world.customers.find(named(key))).toMatchObject({
      sessions: { total: 1, ids: [session.sessionId] },
    });
  });

  test.each([[''], ['  '], [null], [true], [{ a: 1 }], [['7']], ['x'.repeat(300)]])(
    'have no id in %j',
    async (id) => {
      await world.end(await startAs(id));
      for (const key of ['', 'true', '7', '{"a":1}', 'x'.repeat(255)])
        expect(await world.customers.find(named(key))).toBeUndefined();
    },
  );

  test('are found by the number of their calls, on either end', async () => {
    const over = { status: 'completed', endedAt: BEGIN } as const;
    for (const change of [
      { direction: 'outbound', fromNumber: '+100', toNumber: '+200' },
      { direction: 'inbound', fromNumber: '+200', toNumber: '+100' },
    ] as const) {
      const { call, session, started } = makeCall(world, { ...over, ...change });
      await world.stores.calls.insert(call, session, started);
    }
    expect(await world.customers.find(named('+200'))).toMatchObject({ calls: { total: 2 } });
    expect(await world.customers.find(named('+100'))).toBeUndefined();
    expect(await world.customers.find({ projectId: uuidV7(), key: '+200' })).toBeUndefined();
  });

  test('are erased by another node where one has failed midway, with one audit entry', async () => {
    const clients = 50;
    await opened.database.query(
      `INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at, ended_at, variables)
       SELECT gen_random_uuid(), $1, n::text, 'chat', 'ended', $2, $2, '{"customerId": "many"}'
       FROM generate_series(1, $3::integer) AS n`,
      [world.projectId, BEGIN, clients],
    );
    const other = await startAs('another');
    let steps = 0;
    const failing = node({
      ...world.customers,
      eraseNext: async (name) => {
        if (++steps === 2) throw new Error('the node is killed');
        return await world.customers.eraseNext(name);
      },
    });
    await expect(failing.customers.erase(named('many'), AUTHOR)).rejects.toThrow('killed');
    expect(await world.customers.find(named('many'))).toMatchObject({ sessions: { total: 30 } });
    expect(await audited()).toEqual([]);
    expect(await world.customers.pendingErasures(1)).toEqual([named('many')]);
    expect(await world.customers.pendingErasures(1, named('many'))).toEqual([]);

    const heir = node();
    await heir.customers.resume();
    expect(await world.customers.find(named('many'))).toBeUndefined();
    expect(failing.removed.length + heir.removed.length).toBe(clients);
    expect(await audited()).toMatchObject([
      { action: 'customer.erased', ...AUTHOR, details: { sessions: clients, calls: 0, recordings: 0 } },
    ]);
    await heir.customers.resume();
    expect(await audited()).toHaveLength(1);
    expect(await count('customer_erasures')).toBe(0);
    expect(await world.customers.find(named('another'))).toMatchObject({
      sessions: { ids: [other.sessionId] },
    });
  });

  test('that are erased by two nodes at once are erased once', async () => {
    await startAs('both');
    await Promise.all([node(), node()].map(({ customers }) => customers.erase(named('both'), AUTHOR)));
    expect(await world.customers.find(named('both'))).toBeUndefined();
    const counted = (await audited()).map(({ details }) => details.sessions);
    expect(counted.filter((sessions) => sessions === 1)).toHaveLength(1);
  });

  test('do not come back by what was still being stored', async () => {
    const live = await startAs('gone');
    const ended = await startAs('gone');
    await world.end(ended);
    const { call, session, started } = makeCall(world, {
      status: 'completed',
      answeredAt: BEGIN,
      endedAt: BEGIN,
    });
    await world.stores.calls.insert(call, session, started);
    await world.stores.calls.markSettled(call.id);
    const { customers } = node();
    for (const key of ['gone', call.toNumber]) await customers.erase(named(key), AUTHOR);

    const words = { messages: [user('late words')], events: [] };
    const { sessions, calls, memory, history } = world.stores;
    const rejection = await sessions.saveTurn({ ...live, turn: 1 }, words).catch((error: unknown) => error);
    await recordLateTurn(sessions, { ...live, turn: 1 }, words, rejection);
    await history.addMessages(ended.instanceId, words.messages);
    await memory.keep(world.projectId, 'id:gone', 'late words', ended.instanceId);
    await world.outbox.recordFact(ended.instanceId, 'session.ended', new Date());
    const recording = { status: 'ready', key: 'late.wav', durationMs: 1, bytes: 1, error: null } as const;
    expect(await calls.completeRecording(call.id, recording)).toBeUndefined();

    for (const key of ['gone', call.toNumber]) expect(await world.customers.find(named(key))).toBeUndefined();
    expect(await memory.find(world.projectId, 'id:gone')).toBeUndefined();
    expect(await world.stores.recordingRemovals.due(10)).toContain('late.wav');
  });
});
