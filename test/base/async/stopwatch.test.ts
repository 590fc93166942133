import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { startStopwatch } from '../../../src/base/async/stopwatch.ts';
import { requires } from '../../support/skips.ts';

function waitWithoutWork(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('A stopwatch measures work, and not the time in which there was none', () => {
  const stopwatch = startStopwatch();
  waitWithoutWork(200);
  expect(stopwatch.isOver(150)).toBe(false);
  expect(stopwatch.elapsedMs()).toBeLessThan(150);
  const startedMs = performance.now();
  while (stopwatch.elapsedMs() < 160 && performance.now() - startedMs < 30_000);
  expect(stopwatch.isOver(150)).toBe(true);
});

test(
  'A stopwatch does not measure the work of other threads',
  requires(existsSync('/proc/thread-self/schedstat'), 'only Linux tells the time of a thread'),
  async () => {
    const busy = new Worker('require("node:worker_threads").parentPort.postMessage(""); for (;;);', {
      eval: true,
    });
    await new Promise((resolve) => busy.once('message', resolve));
    const startedUs = process.cpuUsage();
    const stopwatch = startStopwatch();
    while (process.cpuUsage(startedUs).user < 300_000) waitWithoutWork(20);
    expect(stopwatch.elapsedMs()).toBeLessThan(100);
    expect(stopwatch.isOver(150)).toBe(false);
    await busy.terminate();
  },
);
