import { expect, test } from 'vitest';

import { sleep } from '../../../src/base/async/sleep.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Sleeps for 100 ms and notes the outcome. */
async function startSleep(controller = new AbortController()) {
  const clock = createSimulatedClock();
  const outcomes: unknown[] = [];
  sleep(clock, 100, controller.signal).then(
    () => outcomes.push('resolved'),
    (error: unknown) => outcomes.push(error),
  );
  await settled();
  return { clock, controller, outcomes };
}

test('sleep resolves after the delay', async () => {
  const { clock, outcomes } = await startSleep();
  clock.advance(99);
  await settled();
  expect(outcomes).toEqual([]);
  clock.advance(1);
  await settled();
  expect(outcomes).toEqual(['resolved']);
});

test('sleep rejects with the reason of an abort and leaves no timer', async () => {
  const { clock, controller, outcomes } = await startSleep();
  controller.abort('gone');
  await settled();
  expect(outcomes).toEqual(['gone']);
  expect(clock.pendingTimers()).toBe(0);
});

test('sleep sets no timer when its signal is already aborted', async () => {
  const controller = new AbortController();
  controller.abort('gone');
  const { clock, outcomes } = await startSleep(controller);
  expect(outcomes).toEqual(['gone']);
  expect(clock.pendingTimers()).toBe(0);
});

test('sleep without a signal resolves after the delay', async () => {
  const clock = createSimulatedClock();
  const sleeping = sleep(clock, 100);
  clock.advance(100);
  await expect(sleeping).resolves.toBeUndefined();
});
