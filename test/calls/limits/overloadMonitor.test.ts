import { expect, test } from 'vitest';

import { type LoadChange, OverloadMonitor } from '../../../src/calls/limits/overloadMonitor.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

async function watch(readMs: () => Promise<number>) {
  const clock = createSimulatedClock();
  const changes: LoadChange[] = [];
  const monitor = new OverloadMonitor({
    meters: [
      { part: 'main', limitMs: 100, readMs },
      { part: 'rtp', limitMs: 20, readMs: async () => 1 },
    ],
    clock,
    onChange: (change) => void changes.push(change),
  });
  monitor.start();
  const advance = async (seconds: number) => {
    for (let n = 0; n < seconds * 2; n++) {
      clock.advance(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { monitor, changes, advance, clock };
}

test('A late part is reported once, with its delay, and once when it is on time again', async () => {
  let delayMs = 150;
  const { monitor, changes, advance, clock } = await watch(async () => delayMs);
  await advance(2);
  expect([monitor.lateParts, changes]).toEqual([[], []]);
  await advance(2);
  expect(monitor.lateParts).toEqual(['main']);
  expect(monitor.parts.get('main')).toMatchObject({ delayMs: 150, isLate: true });
  delayMs = 10;
  await advance(6);
  expect(monitor.lateParts).toEqual([]);
  expect(changes).toEqual([
    { part: 'main', isLate: true, delayMs: 150, limitMs: 100 },
    { part: 'main', isLate: false, delayMs: 10, limitMs: 100 },
  ]);
  await monitor.close();
  expect(clock.pendingTimers()).toBe(0);
});

test('A part that does not answer is late, and holds up no other', async () => {
  const { monitor, advance } = await watch(() => new Promise(() => undefined));
  await advance(6);
  expect(monitor.lateParts).toEqual(['main']);
  expect(monitor.parts.get('rtp')?.delayMs).toBe(1);
});
