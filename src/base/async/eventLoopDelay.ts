import type { Clock, Timer } from '../values/clock.ts';

/** Interval at which the event loop's delay is sampled. */
const SAMPLE_INTERVAL_MS = 50;

/** The time that the event loop was blocked or the process was not scheduled, since the measurement started. */
export interface EventLoopDelay {
  delayMs(): number;
  stop(): void;
}

/** Measures by timers that fire late. Works with a simulated clock, unlike `perf_hooks.monitorEventLoopDelay`. */
export function measureEventLoopDelay(clock: Clock): EventLoopDelay {
  let dueMs = clock.monotonicMs() + SAMPLE_INTERVAL_MS;
  let delayedMs = 0;
  const sinceDueMs = () => Math.max(0, clock.monotonicMs() - dueMs);
  const sample = () => {
    delayedMs += sinceDueMs();
    dueMs = clock.monotonicMs() + SAMPLE_INTERVAL_MS;
    timer = clock.setTimer(sample, SAMPLE_INTERVAL_MS);
  };
  let timer = clock.setTimer(sample, SAMPLE_INTERVAL_MS);
  return {
    delayMs: () => delayedMs + sinceDueMs(),
    stop: () => timer.cancel(),
  };
}

/**
 * A timer that is extended by the event-loop delay of its own process: an answer that has arrived but was not read
 * yet must not count as a timeout.
 */
export function setDelayAwareTimer(clock: Clock, callback: () => void, delayMs: number): Timer {
  const eventLoopDelay = measureEventLoopDelay(clock);
  let grantedMs = 0;
  const check = () => {
    const addedMs = eventLoopDelay.delayMs() - grantedMs;
    grantedMs += addedMs;
    if (addedMs > 0) {
      timer = clock.setTimer(check, addedMs);
      return;
    }
    eventLoopDelay.stop();
    callback();
  };
  let timer = clock.setTimer(check, delayMs);
  return {
    cancel() {
      eventLoopDelay.stop();
      timer.cancel();
    },
  };
}
