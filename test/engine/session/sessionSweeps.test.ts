import { expect, test, vi } from 'vitest';

import { type SessionSweepsDeps, startSessionSweeps } from '../../../src/engine/session/sessionSweeps.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const MINUTE = 60_000;
const PROJECT = 'p';

/** Idle sessions that are there until they are ended. */
function scene(idle: string[], change: Partial<SessionSweepsDeps> = {}) {
  const clock = createSimulatedClock();
  const ended: string[] = [];
  const errors: string[] = [];
  const purged: string[] = [];
  const live = [...idle];
  const deps: SessionSweepsDeps = {
    sessions: {
      idle: async (_now, limit) =>
        live.slice(0, limit).map((sessionId) => ({
          projectId: PROJECT,
          sessionId,
          instanceId: `of ${sessionId}`,
          turn: 3,
        })),
    },
    endIdle: async ({ projectId, sessionId, turn }) => {
      ended.push(`${projectId} ${sessionId} ${turn}`);
      live.splice(live.indexOf(sessionId), 1);
      return true;
    },
    history: {
      purge: async (now) => {
        purged.push(`history ${now.toISOString()}`);
        return 0;
      },
    },
    deliveries: { purge: async () => purged.push('deliveries') },
    releases: {
      removeUnused: async () => {
        purged.push('releases');
      },
    },
    clock,
    onError: (_error, what) => errors.push(what),
    ...change,
  };
  return { clock, ended, errors, purged, live, stop: startSessionSweeps(deps) };
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

test('Session sweeps report a session that cannot be ended, and retry it at the next sweep', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `s${index}`);
  let tries = 0;
  const { clock, errors, stop } = scene(ids, {
    endIdle: async () => {
      tries += 1;
      throw new Error('not now');
    },
  });
  clock.advance(15_000);
  await vi.waitFor(() => expect(errors).toHaveLength(100));
  await settled();
  expect(tries).toBe(100);
  clock.advance(15_000);
  await vi.waitFor(() => expect(tries).toBe(200));
  await stop();
});

test('Session sweeps purge every hour, also after a failure', async () => {
  let fails = true;
  const { clock, errors, purged, stop } = scene([], {
    releases: {
      removeUnused: async () => {
        if (fails) throw new Error('away');
        purged.push('releases');
      },
    },
  });
  clock.advance(60 * MINUTE);
  await vi.waitFor(() => expect(errors).toHaveLength(1));
  expect(purged).toEqual(['history 2026-01-01T01:00:00.000Z', 'deliveries']);
  fails = false;
  await settled();
  clock.advance(60 * MINUTE);
  await vi.waitFor(() =>
    expect(purged.slice(2)).toEqual(['history 2026-01-01T02:00:00.000Z', 'deliveries', 'releases']),
  );
  await stop();
});

test('Stopped session sweeps wait for the running one', async () => {
  let finish: () => void = () => undefined;
  const { clock, stop } = scene(['a', 'b'], {
    endIdle: () =>
      new Promise((resolve) => {
        finish = () => resolve(true);
      }),
  });
  clock.advance(15_000);
  await settled();
  let isStopped = false;
  const stopping = stop().then(() => {
    isStopped = true;
  });
  await settled();
  expect(isStopped).toBe(false);
  finish();
  await stopping;
  await stop();
  expect(clock.pendingTimers()).toBe(0);
});
