import { expect, onTestFinished, test } from 'vitest';
import type { SessionStore } from '../../../src/engine/session/sessionStore.ts';
import { startSessionSweeps } from '../../../src/engine/session/sessionSweeps.ts';
import { migrated, openServerDatabase } from '../../infra/postgres/support/databases.ts';
import { sessionWorld } from '../../infra/postgres/support/sessions.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const MINUTE_MS = 60_000;
const SWEEP_MS = 15_000;

test('A chat that was left ends after the agent’s sessionIdleMinutes, with its webhooks due', async () => {
  const opened = await migrated(openServerDatabase);
  onTestFinished(() => opened.close());
  const { stores, projectId, release, releaseId } = await sessionWorld(opened.database, {
    sessionIdleMinutes: 5_000,
  });
  const clock = createSimulatedClock();
  const { engine } = memoryEngine({
    model: scriptedModel(() => ({ text: 'Hello.' })),
    pathway: {
      nodes: [{ id: 'start', type: 'start', data: { title: 'Start', prompt: 'Talk.' } }],
      edges: [],
    },
    agent: { sessionIdleMinutes: 400 },
    clock,
    wrapSessions: () => ({
      ...stores.sessions,
      insert: (session, started) =>
        stores.sessions.insert({ ...session, pathwayId: release.pathwayId, releaseId }, started),
    }),
  });
  const say = (sessionId: string) =>
    engine.runTurn(
      { projectId, sessionId, channel: 'chat' },
      () => ({ input: { kind: 'user_message', text: 'Hi' } }),
      () => undefined,
      new AbortController().signal,
    );
  await say('left');
  const swept: Date[] = [];
  const stop = startSessionSweeps({
    sessions: unused<SessionStore>('sessions', {
      async idle(now, limit) {
        const found = await stores.sessions.idle(now, limit);
        swept.push(now);
        return found.filter((session) => session.projectId === projectId);
      },
    }),
    endIdle: (found) => engine.endIdle(found),
    clock,
    onError: (error) => {
      throw error;
    },
  });
  onTestFinished(stop);
  /** Advances until a sweep has run that began after so many minutes. */
  const sweepAfter = async (minutes: number) => {
    const fromMs = clock.now() + minutes * MINUTE_MS;
    clock.advance(minutes * MINUTE_MS);
    await expect
      .poll(() => {
        clock.advance(SWEEP_MS);
        return swept.at(-1)?.getTime();
      })
      .toBeGreaterThan(fromMs);
  };
  await sweepAfter(200);
  await say('talking');
  await sweepAfter(100);
  expect((await stores.history.find(projectId, 'left'))?.status).toBe('active');
  await sweepAfter(200);
  await expect.poll(async () => (await stores.history.find(projectId, 'left'))?.status).toBe('ended');
  const ended = await stores.history.find(projectId, 'left');
  expect(ended?.events.at(-1)).toMatchObject({ type: 'session_ended', data: { reason: 'idle' } });
  expect((await stores.history.find(projectId, 'talking'))?.status).toBe('active');
  const due = await opened.database.query<{ event: string }>(
    `SELECT event FROM webhook_events JOIN webhook_outbox USING (instance_id) WHERE project_id = $1 ORDER BY position`,
    [projectId],
  );
  expect(due.map(({ event }) => event)).toEqual(['session.ended', 'session.finalized']);
});
