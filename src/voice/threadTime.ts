import { tokenBucket } from '../base/async/messageLimit.ts';
import type { Clock } from '../base/values/clock.ts';

/** A session takes a fiftieth of a thread, which serves up to twenty; half of it, for longer than this, is an attack. */
const MAX_MS_PER_SECOND = 500;
const MAX_MS_AT_ONCE = 3000;

/**
 * Accounts for the time that one voice session takes of the thread that it shares: no more than the process has computed
 * meanwhile, since a machine that stands still is no session's fault.
 */
export class ThreadTime {
  readonly #clock: Clock;
  readonly #admit: (ms: number) => boolean;
  readonly #onExceeded: () => void;
  readonly #cpuMs: () => number;
  #isRunning = false;
  #isExceeded = false;

  /**
   * @param onExceeded - Called once, when the session has taken more than its share.
   * @param cpuMs - Returns the CPU time of the process so far.
   */
  constructor(clock: Clock, onExceeded: () => void, cpuMs = processCpuMs) {
    this.#clock = clock;
    this.#cpuMs = cpuMs;
    this.#admit = tokenBucket(clock, MAX_MS_PER_SECOND, MAX_MS_AT_ONCE);
    this.#onExceeded = onExceeded;
  }

  /** @returns The callback, whose time counts; within another one it counts once. */
  counted<Args extends readonly unknown[]>(callback: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      if (this.#isRunning) return callback(...args);
      const startedMs = this.#clock.monotonicMs();
      const startedCpuMs = this.#cpuMs();
      this.#isRunning = true;
      try {
        callback(...args);
      } finally {
        this.#isRunning = false;
        const passedMs = this.#clock.monotonicMs() - startedMs;
        const isAdmitted = this.#admit(Math.min(passedMs, this.#cpuMs() - startedCpuMs));
        if (!isAdmitted && !this.#isExceeded) {
          this.#isExceeded = true;
          this.#onExceeded();
        }
      }
    };
  }
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
