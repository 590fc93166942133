import type { Clock } from '../../../sip/clock.ts';

/** A clock that advances only by `advance`; timers fire in order. */
export interface SimulatedClock extends Clock {
  advance(byMs: number): void;
  readonly pending: number;
}

export function simulatedClock(): SimulatedClock {
  let nowMs = 0;
  let timers: { atMs: number; callback: () => void }[] = [];
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    setTimer(callback, delayMs) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.push(timer);
      return {
        cancel() {
          timers = timers.filter((one) => one !== timer);
        },
      };
    },
    advance(byMs) {
      const untilMs = nowMs + byMs;
      for (;;) {
        const next = timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (!next) break;
        timers = timers.filter((one) => one !== next);
        nowMs = next.atMs;
        next.callback();
      }
      nowMs = untilMs;
    },
    get pending() {
      return timers.length;
    },
  };
}
