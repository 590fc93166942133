/** Time and timers as a dependency, so that tests can control both. */
export interface Clock {
  /** Milliseconds since the Unix epoch. Jumps when the system clock is set. */
  now(): number;
  /** Milliseconds since an arbitrary start. Never decreases; for durations. */
  monotonicMs(): number;
  /** Calls `callback` once after `delayMs`. */
  setTimer(callback: () => void, delayMs: number): Timer;
}

export interface Timer {
  /** Idempotent. Has no effect once the callback has started. */
  cancel(): void;
}

/** The system clock, with the number of pending timers. */
export interface SystemClock extends Clock {
  readonly pending: number;
}

/** Creates a clock whose timers do not keep the process alive. */
export function createSystemClock(): SystemClock {
  let pending = 0;
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    setTimer(callback, delayMs) {
      let isSet = true;
      const unset = (): boolean => {
        const wasSet = isSet;
        if (wasSet) pending -= 1;
        isSet = false;
        return wasSet;
      };
      pending += 1;
      const handle = setTimeout(() => {
        if (unset()) callback();
      }, delayMs);
      handle.unref();
      return {
        cancel() {
          if (unset()) clearTimeout(handle);
        },
      };
    },
    get pending() {
      return pending;
    },
  };
}
