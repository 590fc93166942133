import { expect, test } from 'vitest';
import { callQueueMeter, rtpMeter, voiceMeter } from '../../../src/app/node/delayMeters.ts';
import { EventLoopWait } from '../../../src/base/async/eventLoopWait.ts';
import type { WaitingCalls } from '../../../src/calls/setup/waitingCalls.ts';
import type { ThreadedMediaEngine } from '../../../src/media/engine/mediaEngine.ts';
import type { ThreadStatistics } from '../../../src/media/engine/threadMessages.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

/** As a thread reports them: so many ticks on time, and so many 30 ms late. */
function statistics(onTime: number, late: number): ThreadStatistics {
  const tickDelayCounts = new Float64Array(401);
  tickDelayCounts[0] = onTime;
  tickDelayCounts[120] = late;
  return { tickDelayCounts } as ThreadStatistics;
}

test('The delay of RTP is that of the latest thread since the last reading', async () => {
  let threads = [statistics(1_000, 0), statistics(1_000, 900)];
  const meter = rtpMeter(unused<ThreadedMediaEngine>('media', { statistics: async () => threads }), 20);
  expect(await meter.readMs()).toBe(30.25);
  threads = [statistics(2_000, 0), statistics(2_000, 900)];
  expect(await meter.readMs()).toBe(0.25);
  // 4 % of the packets are late, then 6 %.
  threads = [statistics(2_960, 40), statistics(3_000, 900)];
  expect(await meter.readMs()).toBe(0.25);
  threads = [statistics(3_900, 100), statistics(4_000, 900)];
  expect(await meter.readMs()).toBe(30.25);
  // One was restarted.
  threads = [statistics(100, 0), statistics(5_000, 900)];
  expect(await meter.readMs()).toBe(0.25);
  threads = [];
  expect(await meter.readMs()).toBe(0);
});

test('The delay of the voice threads is that of the latest, or for how long none has been ready', async () => {
  const clock = createSimulatedClock();
  const late = (waitMs: number) => ({ delay: { waitMs, p99Ms: 0, maxMs: 0 } });
  let threads = [late(3), late(40)];
  const meter = voiceMeter(() => threads, clock, 250);
  expect(await meter.readMs()).toBe(40);
  threads = [];
  clock.advance(9_000);
  expect(await meter.readMs()).toBe(9_000);
  threads = [late(2)];
  expect(await meter.readMs()).toBe(2);
});

test('The delay of the call queue is how long it has held calls that no node takes', async () => {
  const clock = createSimulatedClock();
  let isDatabaseDown = false;
  let leftForMs = 0;
  const isLeft = async (before: Date) => {
    if (isDatabaseDown) throw new Error('the database is away');
    return clock.now() - leftForMs <= before.getTime();
  };
  const meter = callQueueMeter(unused<WaitingCalls>('calls', { isLeft }), clock, 10_000);
  const readings: number[] = [];
  // A node takes them within a second.
  for (leftForMs of [999, 3_000, 3_000, 1_000, 999, 2_000]) {
    clock.advance(1_000);
    readings.push(await meter.readMs());
  }
  expect(readings).toEqual([0, 1_000, 2_000, 3_000, 0, 1_000]);
  isDatabaseDown = true;
  expect(await meter.readMs()).toBe(0);
});

test('The wait for an event loop grows with the length of its stalls', async () => {
  const wait = new EventLoopWait();
  const spend = async (stallMs: number) => {
    wait.readMs();
    for (const endMs = performance.now() + 400; performance.now() < endMs; ) {
      const busyUntilMs = performance.now() + stallMs;
      while (performance.now() < busyUntilMs);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return wait.readMs();
  };
  await spend(0);
  expect(await spend(120)).toBeGreaterThan(35);
  wait.close();
});
