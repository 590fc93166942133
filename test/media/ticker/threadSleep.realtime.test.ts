import { expect, it } from 'vitest';
import { createThreadSleep } from '../../../src/media/ticker/threadSleep.ts';

const rest = createThreadSleep();

it('stands still for the time that is asked for, and for no time where it has passed', () => {
  const startMs = performance.now();
  rest.sleep(3.5);
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(3.4);
  const againMs = performance.now();
  for (const ms of [0, -1, Number.NEGATIVE_INFINITY]) rest.sleep(ms);
  expect(performance.now() - againMs).toBeLessThan(1000);
});

it('calls back when what lies ready was taken, unless it is taken back', async () => {
  const called: string[] = [];
  rest.afterEvents(() => called.push('canceled')).cancel();
  const done = new Promise<void>((resolve) => {
    rest.afterEvents(() => {
      called.push('rest');
      resolve();
    });
  });
  queueMicrotask(() => called.push('event'));
  await done;
  expect(called).toEqual(['event', 'rest']);
});
