import { expect, test } from 'vitest';

import { unavailable } from '../../../src/base/errors.ts';
import { createHistoryNotes } from '../../../src/voice/turns/historyNotes.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function notesOver(failure: () => Error | undefined) {
  const clock = createSimulatedClock();
  const kept: string[] = [];
  const errors: unknown[] = [];
  const notes = createHistoryNotes({
    clock,
    onError: (error) => errors.push(error),
    async addEvents(instanceId, events) {
      const error = failure();
      if (error) throw error;
      kept.push(...events.map(({ data }) => `${instanceId} ${data.n}`));
    },
    async addMessages(instanceId, messages) {
      const error = failure();
      if (error) throw error;
      kept.push(...messages.map(({ content, at }) => `${instanceId} ${content} ${at}`));
    },
  });
  return { clock, kept, errors, notes };
}

test('events wait until the session is known, and are kept in their order', async () => {
  const { notes, kept } = notesOver(() => undefined);
  notes.add('error', { n: 1 });
  notes.know('');
  await settle();
  expect(kept).toEqual([]);
  notes.know('i');
  notes.add('error', { n: 2 });
  await settle();
  expect(kept).toEqual(['i 1', 'i 2']);
});

test('events wait for a database that is away, and each is kept once', async () => {
  let isAway = true;
  const { notes, kept, clock } = notesOver(() => (isAway ? unavailable('database') : undefined));
  notes.know('i');
  notes.add('error', { n: 1 });
  await settle();
  notes.add('error', { n: 2 });
  for (let second = 0; second < 5; second += 1) {
    clock.advance(1000);
    await settle();
  }
  isAway = false;
  clock.advance(1000);
  await settle();
  expect([kept, clock.pendingTimers()]).toEqual([['i 1', 'i 2'], 0]);
});

test('what was said late waits likewise, with the time when it was known', async () => {
  let isAway = true;
  const { notes, kept, clock } = notesOver(() => (isAway ? unavailable('database') : undefined));
  notes.know('i');
  notes.addSaid([{ role: 'user', content: 'Wait!' }]);
  notes.add('error', { n: 1 });
  await settle();
  isAway = false;
  clock.advance(1000);
  await settle();
  expect(kept).toEqual(['i Wait! 2026-01-01T00:00:00.000Z', 'i 1']);
});

test('events that cannot be kept at all are given up, and hold up none after them', async () => {
  let isBad = true;
  const { notes, kept, errors, clock } = notesOver(() => (isBad ? new Error('bad') : undefined));
  notes.know('i');
  notes.add('error', { n: 1 });
  await settle();
  isBad = false;
  notes.add('error', { n: 2 });
  await settle();
  expect([kept, errors.length, clock.pendingTimers()]).toEqual([['i 2'], 1, 0]);
});
