import type { Clock } from '../../src/base/clock.ts';

export interface ManualClock extends Clock {
  /** Moves the time on, and calls back what became due, in order. */
  advance(byMs: number): void;
}

/** A clock that stands still until it is moved. */
export function manualClock(startsAt = '2026-06-01T00:00:00.000Z'): ManualClock {
  let nowMs = Date.parse(startsAt);
  let timers: { dueMs: number; callback: () => void }[] = [];
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    setTimer(callback, delayMs) {
      const timer = { dueMs: nowMs + delayMs, callback };
      timers.push(timer);
      return {
        cancel: () => {
          timers = timers.filter((one) => one !== timer);
        },
      };
    },
    advance(byMs) {
      const untilMs = nowMs + byMs;
      for (;;) {
        const [next] = timers.filter(({ dueMs }) => dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs);
        if (!next) break;
        timers = timers.filter((one) => one !== next);
        nowMs = next.dueMs;
        next.callback();
      }
      nowMs = untilMs;
    },
  };
}
