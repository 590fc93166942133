import { expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { SessionFilter } from '../../../../src/engine/history/sessionFilter.ts';
import { countNext } from '../../../../src/infra/postgres/results/countSessions.ts';
import { makeCall } from '../support/calls.ts';
import { useDatabase } from '../support/databases.ts';
import { seedSessions } from '../support/seededSessions.ts';
import { later, sessionWorld } from '../support/sessions.ts';

const opened = useDatabase();
const SPAN = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-08T00:00:00.000Z' };
const PAGE = { limit: 1, offset: 0 };

/** What the seeds lack. A session's disposition is not known before its analysis. */
const OUTCOMES = `
  UPDATE session_history SET release = nullif(turns, 0), disposition = (ARRAY['booked', 'Réservé', NULL])[1 + turns % 3],
    success = (ARRAY[true, false])[1 + turns % 3] WHERE project_id = $1`;
const CAMPAIGNS = `
  UPDATE calls SET campaign_id = md5(extract(second FROM ended_at)::integer % 4 || '')::uuid
  WHERE project_id = $1 AND direction = 'outbound'`;

test('The list and the analyses of past sessions choose exactly those that insights count, by each dimension', async () => {
  const world = await sessionWorld(opened.database);
  const { projectId, stores, insights } = world;
  await seedSessions(opened.database, projectId, 600);
  for (const sql of [OUTCOMES, CAMPAIGNS]) await opened.database.query(sql, [projectId]);
  // One that is live, and a call that outlives its session.
  await world.start({ channel: 'web' });
  const { call, session, started } = makeCall(world, { direction: 'inbound' });
  await stores.calls.insert({ ...call, status: 'in_progress' }, session, started);
  await world.end(session);
  while ((await countNext(opened.database)) > 0);

  const listed = async (filter: SessionFilter) =>
    (await stores.history.list(projectId, { ...SPAN, status: 'ended', ...filter }, PAGE)).total;
  const chosen = (filter: SessionFilter) =>
    stores.analyses.insertJob({ id: uuidV7(), projectId, createdAt: later(0) }, { ...SPAN, ...filter });
  const counted = async (groupBy: keyof SessionFilter | undefined, filter: SessionFilter) => {
    const points = await insights.sums(projectId, 'sessions', { ...SPAN, interval: 'week', groupBy, filter });
    const sums = new Map<string | null, number>();
    for (const { key, amount } of points) sums.set(key, (sums.get(key) ?? 0) + amount);
    return sums;
  };
  const groups = {
    release: 7,
    disposition: 3,
    success: 3,
    channel: 2,
    direction: 3,
    endReason: 4,
    trunkId: 3,
    campaignId: 3,
    agentId: 1,
    language: 3,
    node: 4,
    provider: 5,
  } as const satisfies Record<keyof SessionFilter, number>;
  for (const [groupBy, count] of Object.entries(groups) as [keyof SessionFilter, number][]) {
    const sums = await counted(groupBy, {});
    expect([groupBy, sums.size]).toEqual([groupBy, count]);
    for (const [key, sessions] of sums) {
      // Without a value.
      const filter = { [groupBy]: key ?? '' };
      const found = [
        await listed(filter),
        await chosen(filter),
        (await counted(undefined, filter)).get(null),
      ];
      expect([filter, found]).toEqual([filter, [sessions, sessions, sessions]]);
    }
  }
  const narrow = {
    direction: 'outbound',
    endReason: 'no_answer',
    channel: 'phone',
    language: 'es-US',
  } as const;
  const sessions = (await counted(undefined, narrow)).get(null) ?? 0;
  expect(sessions).toBeGreaterThan(0);
  expect([await listed({ agentId: 'a' }), await listed(narrow)]).toEqual([0, sessions]);
  // Without a status the list has live conversations too.
  expect((await stores.history.list(projectId, { channel: 'web' }, PAGE)).total).toBe(1);
});
