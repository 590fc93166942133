import { beforeEach, describe, expect, test } from 'vitest';

import type { Analysis } from '../../../../src/engine/history/sessionResults.ts';
import { catchUp, endTasks } from '../../../../src/webhooks/outbox.ts';
import { useDatabase } from '../support/databases.ts';
import { ENDING, later, type SessionWorld, sessionWorld } from '../support/sessions.ts';

const SKIPPED: Analysis = { status: 'skipped', reason: 'late', model: 'm' };
const DONE: Analysis = { status: 'done', disposition: 'booked', success: true, model: 'm' };
const FAILED: Analysis = { status: 'failed', reason: 'away', model: 'm' };
const EVALUATION = { criteria: [{ name: 'polite', passed: true, reason: 'was' }] };
const AT = new Date(later(70_000));
const LATE_MS = Date.parse(ENDING.finalizeBy);

describe('An ended session whose agent asks for an analysis', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeEach(async () => {
    world = await sessionWorld(opened.database);
  });

  /** Nothing is subscribed, so that nothing has to be sent. */
  async function ended() {
    const session = await world.start();
    await world.end(session, { subscribed: [], evaluating: true, skippedAnalysis: SKIPPED });
    const finalized: unknown[] = [];
    world.outbox.events.on('finalized', ({ analysis, evaluation }) =>
      finalized.push({ analysis, evaluation }),
    );
    return {
      finalized,
      lookAt: (nowMs: number) =>
        world.outbox.advance(session.instanceId, (now) => catchUp(now, nowMs, () => session.instanceId)),
      endTasks: () => world.outbox.advance(session.instanceId, (now) => endTasks(now, LATE_MS)),
      save: (analysis: Analysis | undefined) =>
        world.outbox.saveResults(session.instanceId, { evaluation: EVALUATION, analysis }, AT),
      async kept() {
        const [row] = await opened.database.query<object>(
          'SELECT analysis, disposition, success FROM session_history WHERE instance_id = $1',
          [session.instanceId],
        );
        return row;
      },
    };
  }

  test('is finalized with it, once', async () => {
    const session = await ended();
    await session.lookAt(AT.getTime());
    expect(session.finalized).toEqual([]);
    await session.save(DONE);
    await session.lookAt(AT.getTime());
    await session.endTasks();
    expect(session.finalized).toEqual([{ analysis: DONE, evaluation: EVALUATION }]);
    expect(await session.kept()).toEqual({ analysis: DONE, disposition: 'booked', success: true });
  });

  test('is finalized in time without it, and keeps what comes later', async () => {
    const session = await ended();
    await session.lookAt(LATE_MS - 1);
    expect(session.finalized).toEqual([]);
    await session.lookAt(LATE_MS);
    expect(session.finalized).toEqual([{ analysis: SKIPPED, evaluation: undefined }]);
    expect(await session.kept()).toEqual({ analysis: SKIPPED, disposition: null, success: null });
    await session.save(DONE);
    await session.lookAt(LATE_MS);
    await session.endTasks();
    expect(session.finalized).toHaveLength(1);
    expect(await session.kept()).toEqual({ analysis: DONE, disposition: 'booked', success: true });
  });

  test('is skipped where the models gave nothing', async () => {
    const session = await ended();
    await session.save(undefined);
    await session.lookAt(AT.getTime());
    expect(session.finalized).toEqual([{ analysis: SKIPPED, evaluation: EVALUATION }]);
  });

  test('keeps one that was done where another fails', async () => {
    const session = await ended();
    await session.save(FAILED);
    expect(await session.kept()).toEqual({ analysis: FAILED, disposition: null, success: null });
    await session.save(DONE);
    await session.save(FAILED);
    await session.save(SKIPPED);
    expect(await session.kept()).toEqual({ analysis: DONE, disposition: 'booked', success: true });
    const other: Analysis = { status: 'done', model: 'n' };
    await session.save(other);
    expect(await session.kept()).toEqual({ analysis: other, disposition: null, success: null });
  });
});
