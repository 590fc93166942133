import { expect, test } from 'vitest';
import { startStopwatch } from '../../src/base/stopwatch.ts';

test('A stopwatch measures work, and not the time in which there was none', () => {
  const stopwatch = startStopwatch();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  expect(stopwatch.isOver(150)).toBe(false);
  expect(stopwatch.elapsedMs()).toBeLessThan(150);
  const startedMs = performance.now();
  while (stopwatch.elapsedMs() < 160 && performance.now() - startedMs < 30_000);
  expect(stopwatch.isOver(150)).toBe(true);
});
