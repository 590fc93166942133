import { EventEmitter, once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { systemThreadId, threadCpuMs } from '../../../src/base/threads/threadCpuTime.ts';
import { WatchedThread } from '../../../src/base/threads/watchedThread.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

class SilentWorker extends EventEmitter {
  async terminate(): Promise<number> {
    this.emit('exit', 1);
    return 1;
  }
}

let clock: SimulatedClock;
let worker: SilentWorker;
let cpuMs: number | undefined;
let goneAfterMs: number | undefined;
let thread: WatchedThread;
beforeEach(() => {
  clock = createSimulatedClock();
  const startMs = clock.monotonicMs();
  worker = new SilentWorker();
  goneAfterMs = undefined;
  thread = new WatchedThread({
    name: 'thread',
    worker: worker as unknown as Worker,
    clock,
    cpuMs: () => cpuMs,
    askToEnd: () => undefined,
    onGone: () => {
      goneAfterMs = clock.monotonicMs() - startMs;
    },
  });
  thread.setReady('1');
});

describe('WatchedThread', () => {
  test.each([
    { what: 'runs all the time', usedMs: 1000, untilS: 15 },
    { what: 'runs half of the time', usedMs: 500, untilS: 15 },
    { what: 'gets a tenth of a processor', usedMs: 100, untilS: 35 },
    { what: 'is starved', usedMs: 50, untilS: 65 },
    { what: 'waits for something that never comes', usedMs: 0, untilS: 65 },
    { what: 'has an unknown CPU time', usedMs: undefined, untilS: 15 },
  ])('terminates a silent thread that $what after $untilS s', ({ usedMs, untilS }) => {
    for (let second = 0; second < 70; second++) {
      cpuMs = usedMs === undefined ? undefined : second * usedMs;
      clock.advance(1000);
    }
    expect(goneAfterMs).toBe(untilS * 1000);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('keeps a thread that answers late, however much it has run', () => {
    for (let second = 0; second < 300; second++) {
      cpuMs = second * 1000;
      clock.advance(1000);
      if (second % 9 === 0) worker.emit('message', {});
    }
    expect(goneAfterMs).toBeUndefined();
  });
});

test('The CPU time of a thread is that of its own computations', async () => {
  if (systemThreadId() === undefined) return expect(threadCpuMs('1')).toBeUndefined();
  const busy = new Worker(
    `const { parentPort } = require('node:worker_threads');
    const id = require('node:fs').readlinkSync('/proc/thread-self').split('/').at(-1);
    for (const start = process.cpuUsage().user; process.cpuUsage().user - start < 300_000; );
    parentPort.postMessage(id);
    parentPort.on('message', () => undefined);`,
    { eval: true },
  );
  onTestFinished(async () => void (await busy.terminate()));
  const [id] = (await once(busy, 'message')) as [string];
  const ranMs = threadCpuMs(id) ?? Number.NaN;
  expect(ranMs).toBeGreaterThan(100);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((threadCpuMs(id) ?? Number.NaN) - ranMs).toBeLessThan(50);
  await busy.terminate();
  expect(threadCpuMs(id)).toBeUndefined();
});
