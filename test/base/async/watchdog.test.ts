import { expect, test } from 'vitest';

import { createWatchdog } from '../../../src/base/async/watchdog.ts';
import type { Clock } from '../../../src/base/values/clock.ts';

const LIMIT_MS = 30_000;

/** A watchdog whose timers fire when the test says so. */
function watch() {
  let nowMs = 0;
  let fire: (() => void) | undefined;
  let silences = 0;
  const clock: Clock = {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    setTimer(callback) {
      fire = callback;
      return { cancel: () => (fire = undefined) };
    },
  };
  const watchdog = createWatchdog(clock, LIMIT_MS, () => silences++);
  const fireAt = (atMs: number) => {
    nowMs = atMs;
    const callback = fire;
    fire = undefined;
    callback?.();
    return silences;
  };
  return { watchdog, fireAt };
}

test('A watchdog tells of a silence at its limit, and waits on after an event', () => {
  const { watchdog, fireAt } = watch();
  watchdog.start();
  fireAt(LIMIT_MS - 10);
  watchdog.start();
  expect(fireAt(LIMIT_MS)).toBe(0);
  expect(fireAt(2 * LIMIT_MS - 10)).toBe(1);
});

test('A watchdog of a thread that was suspended waits for what has arrived meanwhile', () => {
  const { watchdog, fireAt } = watch();
  watchdog.start();
  expect(fireAt(45_000)).toBe(0);
  watchdog.start();
  expect(fireAt(46_000)).toBe(0);
});

test('A watchdog of a thread that was suspended tells of a silence that goes on', () => {
  const { watchdog, fireAt } = watch();
  watchdog.start();
  expect([fireAt(45_000), fireAt(46_000)]).toEqual([0, 1]);
});
