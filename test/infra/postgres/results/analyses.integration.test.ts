import { beforeEach, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { EndedSessions } from '../../../../src/results/analysis/analysisStore.ts';
import { makeCall } from '../support/calls.ts';
import { useDatabase } from '../support/databases.ts';
import { BEGIN, later, type SessionWorld, sessionWorld } from '../support/sessions.ts';

const opened = useDatabase();
let world: SessionWorld;
beforeEach(async () => {
  world = await sessionWorld(opened.database);
});

const SPAN = { from: BEGIN, to: later(1) };
const job = async (filter: Partial<EndedSessions>) => {
  const id = uuidV7();
  const total = await world.stores.analyses.insertJob(
    { id, projectId: world.projectId, createdAt: BEGIN },
    { ...SPAN, ...filter },
  );
  return { id, total };
};

test('A job has the ended sessions of its span that pass its filters', async () => {
  const { call, session, started } = makeCall(world, { direction: 'inbound', createdAt: BEGIN });
  await world.stores.calls.insert(call, { ...session, startedAt: BEGIN }, started);
  await world.stores.calls.update(call.id, null, {
    status: 'completed',
    endReason: 'caller_hangup',
    endedAt: later(9),
  });
  await world.end(session);
  const chat = await world.start();
  await world.end(chat, { language: 'es-US' });
  await world.stores.analyses.save(chat.instanceId, {
    analysis: { status: 'done', disposition: 'booked', success: true, model: 'm' },
  });
  await world.start();
  await world.end(await world.start({ startedAt: later(1) }));
  await world.end(await (await sessionWorld(opened.database)).start());
  for (const [filter, total] of [
    [{}, 2],
    [{ to: later(2) }, 3],
    [{ channel: 'chat' }, 1],
    [{ channel: 'phone', direction: 'inbound' }, 1],
    [{ direction: 'outbound' }, 0],
    [{ endReason: 'caller_hangup' }, 1],
    [{ endReason: 'api_end' }, 1],
    [{ disposition: 'booked', success: 'true' }, 1],
    [{ success: 'false' }, 0],
    [{ release: 'draft' }, 2],
    [{ release: '7' }, 0],
    [{ language: 'es-US' }, 1],
    [{ agentId: 'a' }, 0],
    [{ trunkId: uuidV7() }, 0],
    [{ campaignId: uuidV7() }, 0],
  ] as const)
    expect([filter, (await job(filter)).total]).toEqual([filter, total]);
});

test('A job is done when each of its sessions was settled once, or is gone', async () => {
  const { analyses } = world.stores;
  const sessions = await Promise.all([world.start(), world.start(), world.start()]);
  for (const session of sessions) await world.end(session);
  const { id } = await job({});
  const find = () => analyses.findJob(world.projectId, id);
  expect(await find()).toMatchObject({ status: 'running', done: 0, total: 3, failed: 0 });
  const capacity = { rows: 99, perProject: 99, leftByProject: new Map() };
  const due = await world.work.analyses.claimDue(new Date(later(5)), new Date(later(9)), capacity);
  const claimed = due.claimed.filter(({ projectId }) => projectId === world.projectId);
  expect(claimed).toHaveLength(3);
  const [first = '', second = '', third = ''] = claimed.map((work) => work.id);
  const done = { analysis: { status: 'done', disposition: 'booked', model: 'm' } } as const;
  const instanceId = await analyses.instanceOf(first);
  await analyses.settle(first, done);
  // As another node that had it too.
  await analyses.settle(first, { analysis: { status: 'done', disposition: 'other', model: 'm' } });
  await analyses.settle(second, { analysis: { status: 'failed', reason: 'away', model: 'm' } });
  expect(await find()).toMatchObject({ status: 'running', done: 2, failed: 1 });
  const [row] = await opened.database.query<{ disposition: string }>(
    'SELECT disposition FROM session_history WHERE instance_id = $1',
    [instanceId ?? null],
  );
  expect(row?.disposition).toBe('booked');
  const last = await analyses.instanceOf(third);
  await opened.database.query('DELETE FROM session_history WHERE instance_id = $1', [last ?? null]);
  expect(await find()).toMatchObject({ status: 'done', done: 3, total: 3, failed: 1 });
  expect([await analyses.instanceOf(third), await analyses.findJob(uuidV7(), id)]).toEqual([
    undefined,
    undefined,
  ]);
});
