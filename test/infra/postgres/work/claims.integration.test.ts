import { beforeEach, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { claimer, leasedWork, workDepth } from '../../../../src/infra/postgres/work/claims.ts';
import type { Claim } from '../../../../src/work/work.ts';
import { useDatabase } from '../support/databases.ts';
import { countRowsRead } from '../support/rowsRead.ts';
import { type SessionWorld, sessionWorld } from '../support/sessions.ts';

const NOW = new Date('2026-01-02T00:00:00Z');
const UNTIL = new Date(NOW.getTime() + 30_000);
const OUTBOX = { name: 'webhook_outbox', key: 'instance_id' } as const;
const CAPACITY = { rows: 100, perProject: 10, leftByProject: new Map<string, number>() };
const HOUR_MS = 3_600_000;

describe('Claims', () => {
  const opened = useDatabase();
  beforeEach(async () => {
    await opened.database.query('DELETE FROM projects');
  });

  const world = () => sessionWorld(opened.database);
  /** Ended sessions, the first due at this time before now and the others a millisecond apart. */
  const addSessions = ({ projectId, releaseId }: SessionWorld, count: number, beforeMs: number) =>
    opened.database.query(
      `WITH ended AS (
         INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at)
         SELECT gen_random_uuid(), $1, 'session ' || n, 'chat', 'ended', $3 FROM generate_series(1, $4::integer) AS n
         RETURNING instance_id
       )
       INSERT INTO webhook_outbox (instance_id, project_id, release_id, finalize_by, evaluating, next_at)
       SELECT instance_id, $1, $2, $3, false, $3::timestamptz + row_number() OVER () * interval '1 ms' FROM ended`,
      [projectId, releaseId, new Date(NOW.getTime() - beforeMs), count],
    );
  /** Of a project; two others are due after it, and one later than now. */
  async function addBacklog(count: number) {
    const [hog, second, third, waiting] = [await world(), await world(), await world(), await world()];
    await addSessions(hog, count, 24 * HOUR_MS);
    for (const other of [second, third]) await addSessions(other, 3, HOUR_MS);
    await addSessions(waiting, 50, -HOUR_MS);
    const due = new Map([
      [hog.projectId, 10],
      [second.projectId, 3],
      [third.projectId, 3],
    ]);
    return { due, hog };
  }
  const countsOf = ({ claimed }: Pick<Claim, 'claimed'>) =>
    claimed.reduce((counts, { projectId }) => {
      counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
      return counts;
    }, new Map<string, number>());

  test('take the longest overdue first, each project’s share, and each session once', async () => {
    const [first, second] = [await world(), await world()];
    await addSessions(first, 30, 2 * HOUR_MS);
    await addSessions(second, 4, HOUR_MS);
    const claim = claimer(opened.database, OUTBOX);
    const leftByProject = new Map([[first.projectId, 7]]);
    const { claimed } = await claim(NOW, UNTIL, { ...CAPACITY, leftByProject });
    expect(claimed.map(({ projectId }) => projectId)).toEqual([
      ...Array(7).fill(first.projectId),
      ...Array(4).fill(second.projectId),
    ]);
    const { claimed: again } = await claim(NOW, UNTIL, { ...CAPACITY, rows: 5 });
    expect(countsOf({ claimed: again })).toEqual(new Map([[first.projectId, 5]]));
    const ids = [...claimed, ...again].map(({ id }) => id);
    expect(new Set(ids).size).toBe(16);
    const full = new Map([[first.projectId, 0]]);
    expect(await claim(NOW, UNTIL, { ...CAPACITY, leftByProject: full })).toEqual({
      claimed: [],
      nextDueAt: UNTIL,
    });
    expect((await claim(UNTIL, UNTIL, { ...CAPACITY, leftByProject: full })).claimed).toHaveLength(4);
  });

  test('take what a clock that was ahead has put off for longer than is ever due', async () => {
    await addSessions(await world(), 1, -10_000);
    await addSessions(await world(), 1, -24 * HOUR_MS);
    expect((await claimer(opened.database, OUTBOX)(NOW, UNTIL, CAPACITY)).claimed).toEqual([]);
    const claim = claimer(opened.database, { ...OUTBOX, longestDelaySeconds: 120 });
    expect((await claim(NOW, UNTIL, CAPACITY)).claimed).toHaveLength(1);
    expect((await claim(NOW, UNTIL, CAPACITY)).claimed).toEqual([]);
  });

  test('reach projects behind the backlog of another', async () => {
    const { due } = await addBacklog(1_200);
    expect(countsOf(await claimer(opened.database, OUTBOX)(NOW, NOW, CAPACITY))).toEqual(due);
  });

  test('read as little for a long backlog as for a short one', async () => {
    const { due, hog } = await addBacklog(4_000);
    const reads: number[] = [];
    for (const more of [0, 14_000]) {
      await addSessions(hog, more, 24 * HOUR_MS);
      await opened.database.query('ANALYZE webhook_outbox');
      const counting = countRowsRead(opened.database);
      expect(countsOf(await claimer(counting, OUTBOX)(NOW, NOW, CAPACITY))).toEqual(due);
      reads.push(counting.rowsRead);
    }
    expect(Math.max(...reads)).toBeLessThan(3_000);
  });

  test('visit more projects than one claim can, some at a time', async () => {
    const hog = await world();
    await addSessions(hog, 1_100, 24 * HOUR_MS);
    // More than a claim visits, and nothing of them is due.
    await opened.database.query(
      `WITH made AS (
         INSERT INTO projects (id, name, session_idle_minutes, history_retention_days, report_usage, created_at, updated_at)
         SELECT ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'p', 5, 30, false, $1, $1
         FROM generate_series(1, 1200) AS n RETURNING id
       ), release AS (
         INSERT INTO agent_releases (project_id, id, release, kept_at) SELECT id, 'r', '{}', $1 FROM made
         RETURNING project_id
       ), ended AS (
         INSERT INTO session_history (instance_id, project_id, session_id, channel, status, started_at)
         SELECT gen_random_uuid(), project_id, 's', 'chat', 'ended', $1 FROM release RETURNING instance_id, project_id
       )
       INSERT INTO webhook_outbox (instance_id, project_id, release_id, finalize_by, evaluating, next_at)
       SELECT instance_id, project_id, 'r', $1, false, $1 FROM ended`,
      [new Date(NOW.getTime() + HOUR_MS)],
    );
    const last = await world();
    await addSessions(last, 1, HOUR_MS);
    const claim = claimer(opened.database, OUTBOX);
    const full = { ...CAPACITY, leftByProject: new Map([[hog.projectId, 0]]) };
    const found = [await claim(NOW, UNTIL, full), await claim(NOW, UNTIL, full)].flatMap(
      ({ claimed }) => claimed,
    );
    expect(found.map(({ projectId }) => projectId)).toEqual([last.projectId]);
  });

  test('of leased work are renewed and settled by their holder alone, and expire', async () => {
    const table = { name: 'letters', where: "box = 'out'" };
    await opened.database.query(
      'CREATE TABLE letters (id uuid, box text, project_id uuid, next_at timestamptz, claim_id uuid)',
    );
    const [letter, other] = [uuidV7(), uuidV7()];
    await opened.database.query(
      `INSERT INTO letters SELECT id, box, $3, $4 FROM unnest($1::uuid[], $2::text[]) AS given (id, box)`,
      [[letter, other], ['out', 'in'], uuidV7(), NOW],
    );
    const [first, second] = [leasedWork(opened.database, table), leasedWork(opened.database, table)];
    const claim = async (node: typeof first, at: Date, until: Date) =>
      (await node.claimDue(at, until, CAPACITY)).claimed.map(({ id }) => id);
    const later = (ms: number) => new Date(NOW.getTime() + ms);
    expect(await workDepth(opened.database, table, NOW)).toEqual({ waiting: 1, delayed: 0, active: 0 });
    expect(await claim(first, NOW, later(30_000))).toEqual([letter]);
    expect(await workDepth(opened.database, table, NOW)).toEqual({ waiting: 0, delayed: 0, active: 1 });
    expect(await first.renew([letter], later(40_000))).toEqual(new Set([letter]));
    expect(await claim(second, later(30_000), later(70_000))).toEqual([]);
    expect(await claim(second, later(40_000), later(70_000))).toEqual([letter]);
    expect(await first.renew([letter], later(90_000))).toEqual(new Set());
    await first.settle(letter, NOW);
    expect(await claim(first, later(50_000), later(80_000))).toEqual([]);
    await second.settle(letter, later(60_000));
    expect(await workDepth(opened.database, table, later(50_000))).toEqual({
      waiting: 0,
      delayed: 1,
      active: 0,
    });
    expect(await claim(first, later(60_000), later(90_000))).toEqual([letter]);
    await first.settle(letter, null);
    expect(await claim(first, later(10 * HOUR_MS), later(11 * HOUR_MS))).toEqual([]);
    await opened.database.query('DROP TABLE letters');
  });
});
