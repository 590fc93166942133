import type { Clock } from '../../src/base/values/clock.ts';

/** A clock that advances only by `advance`. */
export interface SimulatedClock extends Clock {
  /** Advances by `byMs` and calls due timers in order. */
  advance(byMs: number): void;
  /** Number of timers that have neither fired nor been cancelled. */
  pendingTimers(): number;
}

export function createSimulatedClock(startMs = Date.UTC(2026, 0, 1)): SimulatedClock {
  const timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>();
  let nowMs = startMs;
  const nextDue = (untilMs: number) =>
    [...timers].filter(({ dueMs }) => dueMs <= untilMs).sort((one, other) => one.dueMs - other.dueMs)[0];
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs - startMs,
    setTimer(callback, delayMs) {
      const timer = { dueMs: nowMs + delayMs, callback };
      timers.add(timer);
      return { cancel: () => timers.delete(timer) };
    },
    advance(byMs) {
      const untilMs = nowMs + byMs;
      for (let timer = nextDue(untilMs); timer; timer = nextDue(untilMs)) {
        timers.delete(timer);
        nowMs = timer.dueMs;
        timer.callback();
      }
      nowMs = untilMs;
    },
    pendingTimers: () => timers.size,
  };
}
