import { expect, test } from 'vitest';

import { withTimeout } from '../../../src/base/async/withTimeout.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));
const never = () => new Promise(() => undefined);

test.each([
  ['resolves as soon as the task succeeds', async () => 1, 0, { hasResolved: true, timers: 0 }],
  [
    'resolves as soon as the task fails',
    () => Promise.reject(new Error('x')),
    0,
    { hasResolved: true, timers: 0 },
  ],
  ['waits for a pending task', never, 99, { hasResolved: false, timers: 1 }],
  ['resolves at the timeout', never, 100, { hasResolved: true, timers: 0 }],
])('withTimeout %s', async (_title, task, elapsedMs, expected) => {
  const clock = createSimulatedClock();
  let hasResolved = false;
  void withTimeout(clock, task(), 100).then(() => {
    hasResolved = true;
  });
  await settled();
  clock.advance(elapsedMs);
  await settled();
  expect({ hasResolved, timers: clock.pendingTimers() }).toEqual(expected);
});
