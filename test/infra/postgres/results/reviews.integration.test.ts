import { beforeEach, describe, expect, test } from 'vitest';
import type { ReviewRule } from '../../../../src/agents/accounts/reviewRules.ts';
import type { ReviewInput } from '../../../../src/engine/history/review.ts';
import type { Session } from '../../../../src/engine/session/session.ts';
import { countNext } from '../../../../src/infra/postgres/results/countSessions.ts';
import { removeExpired } from '../../../../src/infra/postgres/retention.ts';
import { readInsights } from '../../../../src/results/insights/readInsights.ts';
import { databases, useDatabase } from '../support/databases.ts';
import { BEGIN, later, type SessionWorld, sessionWorld } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };
const BY = { kind: 'operator' };

describe.each(databases)('Reviews on the $name database', ({ open }) => {
  const opened = useDatabase(open);
  beforeEach(() => opened.database.query('DELETE FROM projects'));
  const count = () => countNext(opened.database);
  const setRules = (world: SessionWorld, reviewRules: ReviewRule[]) =>
    world.stores.projects.update(world.projectId, { reviewRules }, BEGIN);
  const evaluate = (world: SessionWorld, { instanceId }: Session, verdicts: Record<string, boolean>) =>
    world.outbox.saveResults(
      instanceId,
      {
        evaluation: {
          criteria: Object.entries(verdicts).map(([name, passed]) => ({ name, passed, reason: '' })),
        },
      },
      new Date(later(70_000)),
    );
  const queued = async (world: SessionWorld) =>
    (await world.stores.reviews.list(world.projectId, 'open', PAGE)).items.map(({ sessionId, why }) => [
      sessionId,
      ...why,
    ]);
  const review = async ({ stores, projectId }: SessionWorld, sessionId: string, given: ReviewInput) => {
    const found = await stores.reviews.find(projectId, sessionId);
    await stores.reviews.save(found?.instanceId ?? '', { ...given, at: BEGIN, by: BY });
  };
  const ended = async (world: SessionWorld, sessionId: string) => {
    const session = await world.start({ sessionId });
    await world.end(session);
    return session;
  };

  test('are asked for by the rules at a session’s end, also of what is known later', async () => {
    const world = await sessionWorld(opened.database);
    const before = await ended(world, 'before');
    await setRules(world, [{ when: 'failed_criterion' }]);
    const bad = await ended(world, 'bad');
    const good = await ended(world, 'good');
    await setRules(world, [{ when: 'random' }]);
    const after = await ended(world, 'after');
    await count();
    expect(await queued(world)).toEqual([['after', 'random']]);
    for (const session of [before, bad, after]) await evaluate(world, session, { polite: false });
    await evaluate(world, good, { polite: true });
    await count();
    expect((await queued(world)).toSorted()).toEqual([
      ['after', 'random'],
      ['bad', 'failed_criterion'],
    ]);
  });

  test('stay asked for when rules go, and when a later evaluation is better', async () => {
    const world = await sessionWorld(opened.database);
    await setRules(world, [{ when: 'failed_criterion' }]);
    const session = await ended(world, 's');
    await evaluate(world, session, { polite: false });
    await count();
    await setRules(world, []);
    await evaluate(world, session, { polite: true });
    await count();
    expect(await queued(world)).toEqual([['s', 'failed_criterion']]);
    await review(world, 's', { verdict: 'good' });
    expect(await queued(world)).toEqual([]);
    const done = await world.stores.reviews.list(world.projectId, 'done', PAGE);
    expect(done.items).toMatchObject([
      { sessionId: 's', why: ['failed_criterion'], review: { verdict: 'good' } },
    ]);
  });

  test('are compared with the judge’s verdicts, and what was counted outlives them', async () => {
    const world = await sessionWorld(opened.database, { historyRetentionDays: 1 });
    const verdicts: [boolean, 'good' | 'bad'][] = [
      [true, 'good'],
      [true, 'good'],
      [true, 'bad'],
      [false, 'bad'],
    ];
    for (const [index, [passed, polite]] of verdicts.entries()) {
      const session = await ended(world, `s${index}`);
      await evaluate(world, session, { polite: passed, brief: true });
      await review(world, session.sessionId, { verdict: 'good', criteria: { polite, other: 'bad' } });
    }
    await count();
    await review(world, 's3', { verdict: 'good', criteria: { polite: 'bad', brief: 'good' } });
    await count();
    const agreement = () =>
      readInsights(world.insights, world.projectId, {
        metric: 'judgeAgreement',
        from: '2026-01-01',
        to: '2026-01-02',
        interval: 'day',
        groupBy: undefined,
        filter: { release: 'draft' },
      });
    // Of four verdicts three agree; by chance (3 · 2 + 1 · 2) / 16 would.
    const expected = {
      series: [
        { key: 'polite', points: [{ at: '2026-01-01T00:00:00.000Z', value: 0.75, n: 4, kappa: 0.5 }] },
        { key: 'brief', points: [{ at: '2026-01-01T00:00:00.000Z', value: 1, n: 1, kappa: null }] },
      ],
      total: { value: 0.8, n: 5, kappa: expect.closeTo(0.545, 3) },
    };
    expect(await agreement()).toEqual(expected);
    expect(await removeExpired(opened.database, 'sessions', new Date('2026-06-01'))).toBe(4);
    await count();
    expect(await agreement()).toEqual(expected);
    expect((await world.stores.reviews.list(world.projectId, 'done', PAGE)).items).toEqual([]);
  });

  test('are not asked for where no history is kept', async () => {
    const world = await sessionWorld(opened.database, { historyRetentionDays: 0 });
    await setRules(world, [{ when: 'random' }]);
    await ended(world, 's');
    await count();
    expect(await queued(world)).toEqual([]);
    expect(await world.stores.reviews.find(world.projectId, 's')).toBeUndefined();
  });
});
