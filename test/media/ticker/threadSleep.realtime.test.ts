import { expect, it } from 'vitest';
import { createThreadSleep } from '../../../src/media/ticker/ticker.ts';

const threadSleep = createThreadSleep();

it('ThreadSleep blocks for the given time, and not for a time that has passed', () => {
  const startMs = performance.now();
  threadSleep.sleep(3.5);
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(3.4);
  const againMs = performance.now();
  for (const ms of [0, -1, Number.NEGATIVE_INFINITY]) threadSleep.sleep(ms);
  expect(performance.now() - againMs).toBeLessThan(1000);
});

it('ThreadSleep calls back after pending events, unless it is canceled', async () => {
  const called: string[] = [];
  threadSleep.afterEvents(() => called.push('canceled')).cancel();
  const done = new Promise<void>((resolve) => {
    threadSleep.afterEvents(() => {
      called.push('callback');
      resolve();
    });
  });
  queueMicrotask(() => called.push('event'));
  await done;
  expect(called).toEqual(['event', 'callback']);
});
