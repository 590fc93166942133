import { expect, test } from 'vitest';

import { createRecentSessions } from '../../../src/engine/session/recentSessions.ts';
import { draftSession, newSessionState } from '../../../src/engine/session/session.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const session = (sessionId: string, characters = 0) => ({
  ...draftSession({ projectId: 'p', sessionId, channel: 'chat' }, '2026-01-01T00:00:00.000Z'),
  state: newSessionState({ text: 'x'.repeat(characters) }),
});

test('gives a session back as it was kept last, to its own project only', () => {
  const recent = createRecentSessions(createSimulatedClock());
  recent.keep(session('s'));
  recent.keep({ ...session('s'), turn: 2 });
  expect(recent.find('p', 's')?.turn).toBe(2);
  expect(recent.find('q', 's')).toBeUndefined();
  recent.forget('p', 's');
  expect(recent.find('p', 's')).toBeUndefined();
});

test('forgets after ten minutes', () => {
  const clock = createSimulatedClock();
  const recent = createRecentSessions(clock);
  recent.keep(session('s'));
  clock.advance(9 * 60_000);
  expect(recent.find('p', 's')).toBeDefined();
  clock.advance(60_000);
  expect(recent.find('p', 's')).toBeUndefined();
});

test('the oldest go where all of them are too large, and one that is too large by itself is not kept', () => {
  const recent = createRecentSessions(createSimulatedClock(), 3_000);
  for (const id of ['a', 'b', 'a', 'c']) recent.keep(session(id, 1_000));
  expect(['a', 'b', 'c'].filter((id) => recent.find('p', id))).toEqual(['a', 'c']);
  recent.keep(session('huge', 4_000));
  expect(['a', 'c', 'huge'].filter((id) => recent.find('p', id))).toEqual([]);
  recent.keep(session('d', 1_000));
  expect(recent.find('p', 'd')).toBeDefined();
});
