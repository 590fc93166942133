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

/** The machine's own clock. Its timers do not keep the process alive: the server's sockets do. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(callback, delayMs) {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
