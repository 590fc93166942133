import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Distance of the timers by which the wait is measured. */
const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;

/** Measures how long events wait for the event loop of this thread. */
export class EventLoopWait {
  readonly #intervals = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#intervals.enable();
  }

  /** The mean since the last reading, of events at random moments: a stall meets as many of them as it is long. */
  readMs(): number {
    const { mean, stddev } = this.#intervals;
    this.#intervals.reset();
    // None was measured yet.
    if (!(mean > 0)) return 0;
    const waitMs = (mean ** 2 + stddev ** 2) / (2 * mean) / NANOSECONDS_PER_MS;
    return Math.max(0, waitMs - RESOLUTION_MS / 2);
  }

  close(): void {
    this.#intervals.disable();
  }
}
