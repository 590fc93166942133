import type { Clock, Timer } from '../clock.ts';

/** Detects that an expected event does not come. */
export interface Watchdog {
  /** Starts waiting. */
  start(): void;
  /** The event came; ends the wait. */
  stop(): void;
  /** Cancels the timer; idempotent. */
  close(): void;
}

/**
 * Calls `onSilence` when a wait has lasted `limitMs`. For thousands of waits: they share one timer, which is set
 * again only when it fires, so a wait costs only a read of the clock.
 */
export function createWatchdog(clock: Clock, limitMs: number, onSilence: () => void): Watchdog {
  let waitingSinceMs: number | undefined;
  let timer: Timer | undefined;
  const set = (delayMs: number) => {
    timer = clock.setTimer(ring, delayMs);
  };
  const ring = () => {
    timer = undefined;
    if (waitingSinceMs === undefined) return;
    const leftMs = waitingSinceMs + limitMs - clock.monotonicMs();
    if (leftMs > 0) set(leftMs);
    else onSilence();
  };
  return {
    start() {
      waitingSinceMs = clock.monotonicMs();
      if (!timer) set(limitMs);
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
