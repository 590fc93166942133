import type { Clock, Timer } from './clock.ts';

/** Notices that something which is waited for does not come. */
export interface Watchdog {
  /** The wait begins. */
  start(): void;
  /** It came; until the next {@link start} nothing is waited for. */
  stop(): void;
  /** Takes its timer off; idempotent. */
  close(): void;
}

/**
 * Calls `onSilence` once a wait has lasted `limitMs`. Made for waits that come by the thousand: they share one timer,
 * which is set anew only when it rings, so that a wait costs a look at the clock.
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
