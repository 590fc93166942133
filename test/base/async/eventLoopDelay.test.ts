import { expect, test } from 'vitest';
import { measureEventLoopDelay, setDelayAwareTimer } from '../../../src/base/async/eventLoopDelay.ts';
import type { Clock } from '../../../src/base/values/clock.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** A clock whose process can be blocked: timers that are due meanwhile fire at the end. */
function world() {
  const simulated = createSimulatedClock();
  let aheadMs = 0;
  const clock: Clock = { ...simulated, monotonicMs: () => simulated.monotonicMs() + aheadMs };
  return {
    clock,
    pass: (ms: number) => simulated.advance(ms),
    holdUp(ms: number) {
      aheadMs += ms;
    },
    timers: () => simulated.pendingTimers(),
  };
}

test('A process that is not blocked has no event-loop delay', () => {
  const { clock, pass } = world();
  const lateness = measureEventLoopDelay(clock);
  pass(1_000);
  expect(lateness.delayMs()).toBe(0);
});

test('The event-loop delay counts the time of each block, before and after the next timer', () => {
  const { clock, pass, holdUp, timers } = world();
  const lateness = measureEventLoopDelay(clock);
  pass(100);
  holdUp(700);
  expect(lateness.delayMs()).toBe(650);
  pass(50);
  expect(lateness.delayMs()).toBe(700);
  pass(500);
  holdUp(50);
  pass(50);
  expect(lateness.delayMs()).toBe(750);
  lateness.stop();
  expect(timers()).toBe(0);
});

test('A delay-aware timer fires on time, and later by the delay of its process', () => {
  const { clock, pass, holdUp, timers } = world();
  const called: string[] = [];
  setDelayAwareTimer(clock, () => called.push('on time'), 200);
  pass(199);
  expect(called).toEqual([]);
  pass(1);
  expect(called).toEqual(['on time']);

  setDelayAwareTimer(clock, () => called.push('late'), 200);
  pass(100);
  holdUp(1_000);
  pass(1_099);
  expect(called).toEqual(['on time']);
  pass(1);
  expect(called).toEqual(['on time', 'late']);
  expect(timers()).toBe(0);
});

test('A cancelled delay-aware timer does not fire', () => {
  const { clock, pass, timers } = world();
  const called: string[] = [];
  setDelayAwareTimer(clock, () => called.push('called'), 200).cancel();
  pass(1_000);
  expect(called).toEqual([]);
  expect(timers()).toBe(0);
});
