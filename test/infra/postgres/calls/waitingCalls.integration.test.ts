import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { Call } from '../../../../src/calls/call.ts';
import { waitingCallStore, waitingDepth } from '../../../../src/infra/postgres/calls/waitingCalls.ts';
import { leasedWork } from '../../../../src/infra/postgres/work/claims.ts';
import { CALL_QUEUES } from '../../../../src/infra/postgres/work/tables.ts';
import type { LeasedWork } from '../../../../src/work/work.ts';
import { makeCall } from '../support/calls.ts';
import { databases, migrated, OPEN_TIMEOUT_MS, type OpenDatabase } from '../support/databases.ts';
import { countRowsRead } from '../support/rowsRead.ts';
import { type SessionWorld, sessionWorld } from '../support/sessions.ts';

const CAPACITY = { rows: 10, perProject: 10, leftByProject: new Map<string, number>() };
const NODE = 'node-1';

describe.each(databases)('Waiting calls on the $name database', ({ name, open }) => {
  let opened: OpenDatabase;
  let world: SessionWorld;
  let queues: LeasedWork;
  beforeAll(async () => {
    opened = await migrated(open);
  }, OPEN_TIMEOUT_MS);
  afterAll(() => opened.close());
  beforeEach(async () => {
    await opened.database.query('DELETE FROM projects');
    world = await sessionWorld(opened.database);
    queues = leasedWork(opened.database, CALL_QUEUES);
  });

  let numbers = 0;
  const wait = async (change: Partial<Call> = {}): Promise<Call> => {
    numbers += 1;
    const toNumber = `+8869${String(numbers).padStart(8, '0')}`;
    const { call, session, started } = makeCall(world, { toNumber, ...change });
    await world.stores.calls.insert(call, session, started);
    return call;
  };
  const waiting = () => waitingCallStore(opened.database);
  const inFuture = (ms: number) => new Date(Date.now() + ms);
  const claim = async (afterMs = 0) =>
    (await queues.claimDue(inFuture(afterMs), inFuture(60_000), CAPACITY)).claimed;
  const idsOf = (calls: readonly Call[]) => calls.map(({ id }) => id);

  test('make one row of work a project, which is due at once and goes with the last of them', async () => {
    const [first, second] = [await wait(), await wait()];
    const [queue, ...others] = await claim();
    expect([queue?.projectId, others]).toEqual([world.projectId, []]);
    const id = queue?.id ?? '';
    expect(await waiting().closeQueue(id)).toBe(false);
    await world.stores.calls.claim(first.id, NODE);
    await world.stores.calls.requestHangup(world.projectId, second.id, first.createdAt);
    expect(await waiting().closeQueue(id)).toBe(true);
    expect(await claim(120_000)).toEqual([]);
  });

  test('make the row due at once while it waits for its trunks, or its node has failed', async () => {
    await wait();
    const [queue] = await claim();
    await queues.settle(queue?.id ?? '', inFuture(400));
    expect(await claim()).toEqual([]);
    await wait();
    expect(await claim()).toEqual([queue]);
    await wait();
    expect(await claim()).toEqual([queue]);
  });

  test('that were scheduled make it due once they are queued, and those that a node puts back a moment later', async () => {
    const call = await wait({ status: 'scheduled', notBefore: new Date().toISOString() });
    expect(await claim()).toEqual([]);
    const { calls } = world.stores;
    await calls.queueScheduled(call, call.createdAt);
    const [queue] = await claim();
    await calls.claim(call.id, NODE);
    expect(await waiting().closeQueue(queue?.id ?? '')).toBe(true);
    await calls.releaseClaim(call.id, NODE);
    expect(await claim()).toEqual([]);
    expect(await claim(1_000)).toHaveLength(1);
  });

  test('are read by from number: those of a lower priority first, then the oldest', async () => {
    const campaign = await wait({ priority: 1 });
    const [old, young] = [await wait(), await wait()];
    const other = await wait({ fromNumber: '+886200000001' });
    await wait({ status: 'scheduled' });
    expect(idsOf(await waiting().first(world.projectId))).toEqual(idsOf([old, young, other, campaign]));
    await world.stores.calls.claim(old.id, NODE);
    expect(idsOf(await waiting().first(world.projectId))).toEqual(idsOf([young, other, campaign]));
  });

  test('are left while no node claims their project, and counted by what they wait for', async () => {
    const createdAt = new Date(Date.now() - 500).toISOString();
    const [call] = [await wait({ createdAt }), await wait({ createdAt })];
    const depth = () => waitingDepth(opened.database, new Date());
    expect(await waiting().isLeft(inFuture(-1_000))).toBe(false);
    expect(await waiting().isLeft(new Date())).toBe(true);
    expect(await depth()).toEqual({ waiting: 2, delayed: 0, active: 0 });
    await claim();
    await world.stores.calls.claim(call.id, NODE);
    expect(await waiting().isLeft(new Date())).toBe(false);
    expect(await depth()).toEqual({ waiting: 0, delayed: 1, active: 1 });
  });

  test('that begin to wait while their queue is closed are not forgotten', async () => {
    for (let round = 0; round < 20; round += 1) {
      const call = await wait();
      const [queue] = await claim();
      await world.stores.calls.claim(call.id, NODE);
      const [closed] = await Promise.all([waiting().closeQueue(queue?.id ?? ''), wait()]);
      const [again] = await claim();
      // Removed before the call came, which has made another row; else kept.
      expect([closed, again !== undefined]).toEqual([again?.id !== queue?.id, true]);
      await opened.database.query('DELETE FROM calls');
      await opened.database.query('DELETE FROM call_queues');
    }
  });

  // A server's planner goes by the sizes of tables, and reads small ones whole.
  if (name === 'server') {
    test('read as little of a long queue as of a short one', async () => {
      await wait();
      const reads: number[] = [];
      for (const more of [2_000, 10_000]) {
        await opened.database.query(
          `WITH session AS (
             INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at)
             SELECT gen_random_uuid(), $1, gen_random_uuid()::text, 'phone', 'active', now() FROM generate_series(1, $2::integer)
             RETURNING instance_id, session_id
           )
           INSERT INTO calls (id, project_id, session_id, instance_id, direction, status, from_number, to_number,
             settings, metadata, created_at, hangup_requested, priority)
           SELECT gen_random_uuid(), $1, session_id, instance_id, 'outbound', 'queued', '+88622345678' || (random() * 3)::integer,
             session_id, '{}', '{}', now(), false, 1 FROM session`,
          [world.projectId, more],
        );
        await opened.database.query('ANALYZE calls');
        const counting = countRowsRead(opened.database);
        const { length } = await waitingCallStore({ ...opened.database, query: counting.query }).first(
          world.projectId,
        );
        expect(length).toBeLessThanOrEqual(60);
        reads.push(counting.rowsRead);
      }
      expect(Math.max(...reads)).toBeLessThan(300);
    });
  }
});
