import { beforeEach, expect, test } from 'vitest';

import { AttachedSessions } from '../../../src/engine/session/attachedSessions.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import type { HeldLock, SessionLock } from '../../../src/engine/session/sessionLock.ts';
import type { SessionStore } from '../../../src/engine/session/sessionStore.ts';
import { WriteBehind } from '../../../src/engine/session/writeBehind.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { makeSession } from '../support/makeSession.ts';

const SESSION = makeSession();
const CALL = { direction: 'inbound', fromNumber: '+1', toNumber: '+2', callId: 'c', trunkId: null } as const;
const lock: SessionLock = { acquire: async () => held({}) };
const held = (more: Partial<HeldLock>): HeldLock => ({
  lost: new AbortController().signal,
  wasContended: false,
  release: async () => undefined,
  ...more,
});

let clock: SimulatedClock;
let stored: Session | undefined;
let answer: () => void;
let attached: AttachedSessions;
let writeBehind: WriteBehind;

beforeEach(() => {
  clock = createSimulatedClock();
  stored = SESSION;
  const sessions = unused<SessionStore>('sessions', {
    find: () =>
      new Promise((resolve) => {
        const found = stored;
        answer = () => resolve(found);
      }),
    saveTurn: async (session) => {
      stored = session;
    },
  });
  const spool = { put: async () => undefined, drop: async () => undefined, readPending: async () => [] };
  writeBehind = new WriteBehind({ sessions, spool, clock, onError: () => undefined });
  attached = new AttachedSessions({ sessions, attachedSessions: writeBehind, lock, clock });
});

/** The turn number of a turn's session, with the database's answer after so long, or why the turn is aborted. */
async function turnOf(more: Partial<HeldLock>, answersAfterMs: number): Promise<number | string> {
  const reading = attached.access('p', 's').sessions.find('p', 's');
  let turn: number | string = 'waits';
  const wanted = { projectId: 'p', sessionId: 's', channel: 'phone' } as const;
  void attached.upToDate(wanted, held(more), reading).then(({ session, lost }) => {
    turn = session?.turn ?? 'none';
    lost.addEventListener('abort', () => {
      turn = lost.reason.code;
    });
  });
  for (let passed = 0; passed < 40; passed += 5) {
    if (passed >= answersAfterMs) answer();
    clock.advance(5);
    for (let n = 0; n < 10; n += 1) await Promise.resolve();
  }
  return turn;
}

const NEVER = Number.POSITIVE_INFINITY;

test('A new session that its stream brings along does not wait for the database, once', async () => {
  await attached.attach('p', 's', SESSION, CALL);
  expect(attached.callOf(SESSION)).toEqual(CALL);
  expect(await turnOf({}, NEVER)).toBe(0);
  expect(await turnOf({}, NEVER)).toBe('waits');
  expect(await turnOf({ wasOwn: true }, NEVER)).toBe(0);
});

test.each([
  ['another node held the lock meanwhile', { wasOwn: false }],
  ['another node released the lock a moment ago', { wasContended: true }],
])('A turn waits for the database when %s', async (_what, more) => {
  await attached.attach('p', 's', SESSION, undefined);
  await writeBehind.saveTurn({ ...SESSION, turn: 1 }, { messages: [], events: [] });
  expect(await turnOf({ wasOwn: true }, NEVER)).toBe(1);
  expect(await turnOf(more, NEVER)).toBe('waits');
});

test('A call’s session is read only where another node had the lock: one that has ended hangs up', async () => {
  expect(attached.holdsCall('p', 's')).toBe(false);
  await attached.attach('p', 's', { ...SESSION, callId: null }, undefined);
  expect(attached.holdsCall('p', 's')).toBe(false);
  await attached.attach('p', 's', SESSION, undefined);
  expect(attached.holdsCall('p', 's')).toBe(true);
  const wanted = { projectId: 'p', sessionId: 's', channel: 'phone' } as const;
  stored = { ...SESSION, turn: 2 };
  expect((await attached.upToDate(wanted, held({}), undefined)).session?.turn).toBe(0);
  const found = attached.upToDate(wanted, held({ wasOwn: false }), undefined);
  answer();
  expect((await found).session?.turn).toBe(2);
  attached.detach('p', 's');
  expect(attached.holdsCall('p', 's')).toBe(false);
});

test('A turn is aborted once the database says that its session has ended', async () => {
  await attached.attach('p', 's', SESSION, undefined);
  expect(await turnOf({}, 10)).toBe(0);
  stored = undefined;
  expect(await turnOf({ wasOwn: true }, 10)).toBe('session_ended');
  stored = { ...SESSION, instanceId: 'another' };
  await attached.attach('p', 's', SESSION, undefined);
  expect(await turnOf({}, 10)).toBe('session_ended');
});

test('A read that began before a turn does not take it back', async () => {
  await attached.attach('p', 's', SESSION, undefined);
  const next = { ...SESSION, turn: 1 };
  writeBehind.hold(next);
  stored = SESSION;
  expect(await turnOf({ wasOwn: true }, 10)).toBe(1);
  expect(writeBehind.peek('p', 's')).toBe(next);
});

test('A turn that the database rejects is not continued from', async () => {
  await attached.attach('p', 's', SESSION, undefined);
  const rejecting = new WriteBehind({
    sessions: unused<SessionStore>('sessions', { saveTurn: () => Promise.reject(new Error('rejected')) }),
    spool: { put: async () => undefined, drop: async () => undefined, readPending: async () => [] },
    clock,
    onError: () => undefined,
  });
  await expect(rejecting.saveTurn(SESSION, { messages: [], events: [] })).rejects.toThrow('rejected');
  expect(rejecting.peek('p', 's')).toBeUndefined();
});
