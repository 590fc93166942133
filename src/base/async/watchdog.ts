import type { Clock, Timer } from '../values/clock.ts';

/** Detects that an expected event does not come. */
export interface Watchdog {
  /** Starts waiting. @param limitMs - Default: that of the watchdog. */
  start(limitMs?: number): void;
  /** The event came; ends the wait. */
  stop(): void;
  /** Cancels the timer; idempotent. */
  close(): void;
}

/** A timer that fires so much later than due was held up with its thread: what has arrived meanwhile comes after it. */
const LATE_MS = 1_000;

/**
 * Calls `onSilence` when a wait has lasted its limit. For thousands of waits: they share one timer, which is set
 * again only when it fires, so a wait costs only a read of the clock.
 */
export function createWatchdog(clock: Clock, usualMs: number, onSilence: () => void): Watchdog {
  let waitingSinceMs: number | undefined;
  let limitMs = usualMs;
  let timer: Timer | undefined;
  let dueMs = 0;
  const set = (delayMs: number) => {
    dueMs = clock.monotonicMs() + delayMs;
    timer = clock.setTimer(ring, delayMs);
  };
  const ring = () => {
    timer = undefined;
    if (waitingSinceMs === undefined) return;
    const nowMs = clock.monotonicMs();
    const leftMs = waitingSinceMs + limitMs - nowMs;
    if (leftMs > 0) set(leftMs);
    else if (nowMs - dueMs > LATE_MS) set(LATE_MS);
    else onSilence();
  };
  return {
    start(ms = usualMs) {
      waitingSinceMs = clock.monotonicMs();
      limitMs = ms;
      if (timer && dueMs <= waitingSinceMs + limitMs) return;
      timer?.cancel();
      set(limitMs);
    },
    stop() {
      waitingSinceMs = undefined;
    },
    close() {
      waitingSinceMs = undefined;
      timer?.cancel();
      timer = undefined;
    },
  };
}
