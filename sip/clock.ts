/** The time, and being called back later, as a dependency, so that tests can drive both. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds since an arbitrary start; never goes back. For durations. */
  monotonicMs(): number;
  /** Calls back once after `delayMs`. */
  setTimer(callback: () => void, delayMs: number): Timer;
}

export interface Timer {
  /** Idempotent; a callback that has begun is not undone. */
  cancel(): void;
}

/** The machine's own clock; tells how many of its timers are set. */
export interface SystemClock extends Clock {
  readonly pending: number;
}

/** Its timers do not keep the process alive: the server's sockets do. */
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
