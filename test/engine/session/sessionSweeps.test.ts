import { expect, test, vi } from 'vitest';
import type { SessionStore } from '../../../src/engine/session/sessionStore.ts';
import { type SessionSweepsDeps, startSessionSweeps } from '../../../src/engine/session/sessionSweeps.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const PROJECT = 'p';

/** Idle sessions that are there until they are ended. */
function scene(idle: string[], change: Partial<SessionSweepsDeps> = {}) {
  const clock = createSimulatedClock();
  const ended: string[] = [];
  const errors: string[] = [];
  const live = [...idle];
  const deps: SessionSweepsDeps = {
    sessions: unused<SessionStore>('sessions', {
      idle: async (_now, limit, after) =>
        live
          .slice(after ? live.indexOf(after.sessionId) + 1 : 0)
          .slice(0, limit)
          .map((sessionId) => ({
            projectId: PROJECT,
            sessionId,
            instanceId: `of ${sessionId}`,
            turn: 3,
          })),
    }),
    endIdle: async ({ projectId, sessionId, turn }) => {
      ended.push(`${projectId} ${sessionId} ${turn}`);
      live.splice(live.indexOf(sessionId), 1);
      return true;
    },
    clock,
    onError: (_error, what) => errors.push(what),
    ...change,
  };
  return { clock, ended, errors, live, stop: startSessionSweeps(deps) };
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test('Session sweeps end idle sessions every 15 s, in batches', async () => {
  const ids = Array.from({ length: 250 }, (_, index) => `s${index}`);
  const { clock, ended, live, stop } = scene(ids);
  clock.advance(14_999);
  await settled();
  expect(ended).toEqual([]);
  clock.advance(1);
  await vi.waitFor(() => expect(ended).toEqual(ids.map((id) => `p ${id} 3`)));
  await settled();
  live.push('late');
  clock.advance(15_000);
  await vi.waitFor(() => expect(ended).toHaveLength(251));
  await stop();
});

test('Session sweeps report sessions that cannot be ended, end those behind them, and retry at the next sweep', async () => {
  const ids = Array.from({ length: 101 }, (_, index) => `s${index}`);
  let tries = 0;
  const { clock, errors, stop } = scene(ids, {
    endIdle: async ({ sessionId }) => {
      tries += 1;
      if (sessionId === 's100') return true;
      throw new Error('not now');
    },
  });
  clock.advance(15_000);
  await vi.waitFor(() => expect(errors).toHaveLength(100));
  await settled();
  expect(tries).toBe(101);
  clock.advance(15_000);
  await vi.waitFor(() => expect(tries).toBe(202));
  await stop();
});
