import type { Timer } from '../../base/clock.ts';

/** How a thread that has nothing to do for a moment spends it. */
export interface ThreadSleep {
  /** Calls back once what has come in meanwhile was taken. The thread does not sleep before. */
  afterEvents(callback: () => void): Timer;
  /** Stands still for `ms`, fractions count; what comes in meanwhile waits. */
  sleep(ms: number): void;
}

/** For a thread of its own: a main thread that stands still answers nobody. */
export function createThreadSleep(): ThreadSleep {
  // Nobody ever wakes it: the wait ends by its time.
  const neverChanged = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return {
    afterEvents(callback) {
      const handle = setImmediate(callback);
      return { cancel: () => clearImmediate(handle) };
    },
    sleep(ms) {
      if (ms > 0) Atomics.wait(neverChanged, 0, 0, ms);
    },
  };
}
