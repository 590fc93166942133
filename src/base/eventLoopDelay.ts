import type { Clock, Timer } from './clock.ts';

/** How often it is looked whether this process gets to run. */
const PULSE_MS = 50;

/** How long this process itself could not run, since it was asked for: busy with other work, or not let by its machine. */
export interface EventLoopDelay {
  delayMs(): number;
  /** Idempotent. */
  stop(): void;
}

/** Measures it by timers, which come late when nothing else comes in time. */
export function measureEventLoopDelay(clock: Clock): EventLoopDelay {
  let dueMs = clock.monotonicMs() + PULSE_MS;
  let lateMs = 0;
  const sinceDueMs = () => Math.max(0, clock.monotonicMs() - dueMs);
  const pulse = () => {
    lateMs += sinceDueMs();
    dueMs = clock.monotonicMs() + PULSE_MS;
    timer = clock.setTimer(pulse, PULSE_MS);
  };
  let timer = clock.setTimer(pulse, PULSE_MS);
  return {
    delayMs: () => lateMs + sinceDueMs(),
    stop: () => timer.cancel(),
  };
}

/**
 * Calls back once others have had so long to answer: as long again as this process was late itself, since it takes an
 * answer that it has not read yet for silence.
 */
export function setDelayAwareTimer(clock: Clock, callback: () => void, delayMs: number): Timer {
  const lateness = measureEventLoopDelay(clock);
  let grantedMs = 0;
  const look = () => {
    const moreMs = lateness.delayMs() - grantedMs;
    grantedMs += moreMs;
    if (moreMs > 0) {
      timer = clock.setTimer(look, moreMs);
      return;
    }
    lateness.stop();
    callback();
  };
  let timer = clock.setTimer(look, delayMs);
  return {
    cancel() {
      lateness.stop();
      timer.cancel();
    },
  };
}
