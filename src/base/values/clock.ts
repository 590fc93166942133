/** A day of 24 hours, as UTC has them. */
export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
export const MINUTE_MS = 60_000;

/** Time and timers as a dependency, so that tests can control both. */
export interface Clock {
  /** Milliseconds since the Unix epoch. Jumps when the system clock is set. */
  now(): number;
  /** Milliseconds since an arbitrary start. Never decreases; use it to measure durations. */
  monotonicMs(): number;
  /** Calls `callback` once after `delayMs`. The timer does not keep the process alive. */
  setTimer(callback: () => void, delayMs: number): Timer;
}

export interface Timer {
  /** Idempotent. Has no effect once the callback has started. */
  cancel(): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(callback, delayMs) {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
