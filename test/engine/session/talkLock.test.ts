import { expect, test } from 'vitest';

import { CallwayError, unavailable } from '../../../src/base/errors.ts';
import type { HeldLock, SessionLock } from '../../../src/engine/session/sessionStore.ts';
import { lockOfTalks } from '../../../src/engine/session/talkLock.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** A lock that answers as the test says, and notes what is asked of it. */
function scripted(answer: () => unknown, released: Promise<void> = Promise.resolve()) {
  const log: string[] = [];
  const losing = new AbortController();
  const held: HeldLock = {
    lost: losing.signal,
    isNewest: (mark) => mark === 'newest',
    isLeft: (mark) => mark === 'left',
    leave: (mark) => log.push(`left ${mark}`),
    async release() {
      log.push('released');
      await released;
    },
  };
  const lock: SessionLock = {
    async acquire(projectId, sessionId) {
      log.push(`asked for ${projectId} ${sessionId}`);
      const failure = answer();
      if (failure) throw failure;
      return held;
    },
    run: () => {
      throw new Error('not used');
    },
  };
  const clock = createSimulatedClock();
  return { log, losing, clock, lock: lockOfTalks(lock, clock) };
}

/** Takes a turn that leaves a mark. @returns What the lock says it knows. */
async function knownTo(lock: SessionLock) {
  const held = await lock.acquire('p', 's');
  const known = { newest: held.isNewest('newest'), left: held.isLeft('left') };
  held.leave('mark');
  await held.release();
  return known;
}

const AWAY = () => unavailable('redis');
const ALL = { newest: true, left: true };
const NOTHING = { newest: false, left: false };

test('a talk holds the lock for its turn, and passes on what the lock knows', async () => {
  const { lock, log } = scripted(() => undefined);
  expect(await knownTo(lock)).toEqual(ALL);
  expect(log).toEqual(['asked for p s', 'left mark', 'released']);
});

test('a talk goes on without it while it is away, and does not wait for it again at once', async () => {
  const { lock, log, clock } = scripted(AWAY);
  expect(await knownTo(lock)).toEqual(NOTHING);
  expect(await lock.run('p', 's', async () => 'done')).toBe('done');
  expect(log).toEqual(['asked for p s']);
  clock.advance(5000);
  expect(await knownTo(lock)).toEqual(NOTHING);
  expect(log).toHaveLength(2);
});

test('a talk does not wait until the lock is given back', async () => {
  const { lock, log } = scripted(() => undefined, new Promise(() => {}));
  expect(await knownTo(lock)).toEqual(ALL);
  expect(log).toContain('released');
});

test('a lock that is lost on the way does not stop the turn', async () => {
  const { lock, losing } = scripted(() => undefined);
  const wasStopped = await lock.run('p', 's', async ({ lost }) => {
    losing.abort();
    return lost.aborted;
  });
  expect(wasStopped).toBe(false);
});

test('a session that is busy is refused as ever', async () => {
  const { lock } = scripted(() => new CallwayError('conflict', 'session_busy', 'busy'));
  await expect(lock.acquire('p', 's')).rejects.toMatchObject({ code: 'session_busy' });
});

test('a turn that fails gives the lock back and fails as it is', async () => {
  const { lock, log } = scripted(() => undefined);
  const fails = lock.run('p', 's', async () => {
    throw new Error('the model');
  });
  await expect(fails).rejects.toThrow('the model');
  expect(log).toContain('released');
});
