import { expect, test } from 'vitest';

import { unavailable } from '../../../src/base/errors.ts';
import { SessionHistory } from '../../../src/conversation/turns/sessionHistory.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function historyWith(failure: () => Error | undefined) {
  const clock = createSimulatedClock();
  const stored: string[] = [];
  const errors: unknown[] = [];
  const store = (lines: readonly string[]) => {
    const error = failure();
    if (error) throw error;
    stored.push(...lines);
  };
  const history = new SessionHistory({
    clock,
    onError: (error) => errors.push(error),
    historyStore: {
      addEvents: async (instanceId, events) => store(events.map(({ data }) => `${instanceId} ${data.n}`)),
      addMessages: async (instanceId, messages) =>
        store(messages.map(({ content, at }) => `${instanceId} ${content} ${at}`)),
      addHeard: async () => undefined,
      addUsage: async () => undefined,
    },
  });
  return { clock, stored, errors, history };
}

test('Events are stored in order once the session is known', async () => {
  const { history, stored } = historyWith(() => undefined);
  history.addEvent('error', { n: 1 });
  history.onSession('');
  await settle();
  expect(stored).toEqual([]);
  history.onSession('i');
  history.addEvent('error', { n: 2 });
  await settle();
  expect(stored).toEqual(['i 1', 'i 2']);
});

test('Events wait until the database is up again and are stored once', async () => {
  let isDown = true;
  const { history, stored, clock } = historyWith(() => (isDown ? unavailable('database') : undefined));
  history.onSession('i');
  history.addEvent('error', { n: 1 });
  await settle();
  history.addEvent('error', { n: 2 });
  for (let second = 0; second < 5; second += 1) {
    clock.advance(1000);
    await settle();
  }
  isDown = false;
  clock.advance(1000);
  await settle();
  expect([stored, clock.pendingTimers()]).toEqual([['i 1', 'i 2'], 0]);
});

test('Messages keep the time at which they were said while the database is down', async () => {
  let isDown = true;
  const { history, stored, clock } = historyWith(() => (isDown ? unavailable('database') : undefined));
  history.onSession('i');
  history.addMessages([{ role: 'user', content: 'Wait!' }]);
  history.addEvent('error', { n: 1 });
  await settle();
  isDown = false;
  clock.advance(1000);
  await settle();
  expect(stored).toEqual(['i Wait! 2026-01-01T00:00:00.000Z', 'i 1']);
});

test('An event that the database rejects is dropped and does not block those after it', async () => {
  let isRejected = true;
  const { history, stored, errors, clock } = historyWith(() => (isRejected ? new Error('bad') : undefined));
  history.onSession('i');
  history.addEvent('error', { n: 1 });
  await settle();
  isRejected = false;
  history.addEvent('error', { n: 2 });
  await settle();
  expect([stored, errors.length, clock.pendingTimers()]).toEqual([['i 2'], 1, 0]);
});
