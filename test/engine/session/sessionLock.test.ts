import { expect, test } from 'vitest';

import { CallwayError, unavailable } from '../../../src/base/errors.ts';
import { bestEffortLock } from '../../../src/engine/session/sessionLock.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** @param failure - What acquiring the lock fails with. */
function scene({
  failure,
  released = Promise.resolve(),
}: {
  failure?: Error;
  released?: Promise<void>;
} = {}) {
  const log: string[] = [];
  const losing = new AbortController();
  const clock = createSimulatedClock();
  const lock = bestEffortLock(
    {
      async acquire(projectId, sessionId) {
        log.push(`acquire ${projectId} ${sessionId}`);
        if (failure) throw failure;
        return {
          lost: losing.signal,
          wasContended: false,
          async release() {
            log.push('release');
            await released;
          },
        };
      },
    },
    clock,
  );
  return { log, losing, clock, lock };
}

test('bestEffortLock acquires and releases the lock', async () => {
  const { lock, log } = scene();
  const held = await lock.acquire('p', 's');
  expect(held.wasContended).toBe(false);
  await held.release();
  expect(log).toEqual(['acquire p s', 'release']);
});

test('bestEffortLock grants a turn without the lock while it is unavailable, and retries after 5 s', async () => {
  const { lock, log, clock } = scene({ failure: unavailable('redis') });
  expect((await lock.acquire('p', 's')).wasContended).toBe(true);
  await (await lock.acquire('p', 's')).release();
  expect(log).toHaveLength(1);
  clock.advance(5000);
  await lock.acquire('p', 's');
  expect(log).toHaveLength(2);
});

test('bestEffortLock does not wait for the release', async () => {
  const { lock, log } = scene({ released: new Promise(() => {}) });
  await (await lock.acquire('p', 's')).release();
  expect(log).toContain('release');
});

test('bestEffortLock lets a turn continue whose lock is lost', async () => {
  const { lock, losing } = scene();
  const { lost } = await lock.acquire('p', 's');
  losing.abort();
  expect(lost.aborted).toBe(false);
});

test('bestEffortLock rejects a busy session', async () => {
  const { lock } = scene({ failure: new CallwayError('conflict', 'session_busy', 'busy') });
  await expect(lock.acquire('p', 's')).rejects.toMatchObject({ code: 'session_busy' });
});
