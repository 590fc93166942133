import type { Worker } from 'node:worker_threads';

import type { Clock, Timer } from '../values/clock.ts';
import { threadCpuMs } from './threadCpuTime.ts';

/** The time for loading its code on a very busy machine. */
const START_TIMEOUT_MS = 120_000;
const CHECK_INTERVAL_MS = 5_000;
/** A main thread that was itself suspended finds its timer due before the messages that have arrived. */
const MAX_SILENT_CHECKS = 2;
/** A minute. A thread that has not run for so long waits for something that never comes. */
const MAX_STARVED_CHECKS = 12;
/** Longer than any computation of a thread. */
const HUNG_CPU_MS = 3_000;
/** Above the imprecision of timers. */
const LATE_CHECK_MS = 250;
/** The time for closing what the thread has open. */
const END_TIMEOUT_MS = 10_000;

export interface WatchedThreadOptions {
  /** The thread's name in reasons, such as `media thread`. */
  readonly name: string;
  readonly worker: Worker;
  readonly clock: Clock;
  /** Tells the thread to end by itself. */
  readonly askToEnd: () => void;
  /** Makes the thread say something; for threads that are silent otherwise. */
  readonly ping?: () => void;
  /** CPU time of a thread by its system id; undefined where it is not known. Default: the operating system's. */
  readonly cpuMs?: (threadId: string) => number | undefined;
  /** Called once, when the thread has ended, died, or hung and was terminated. */
  readonly onGone: (reason: string, isFault: boolean) => void;
}

/**
 * A worker thread from its start to its end, whose death and silence are noticed. It hangs when it does not answer
 * although it has run; one that the machine gives no time is waited for. Where a thread's CPU time is not known, it is
 * taken for starved while the main thread is late too.
 */
export class WatchedThread {
  readonly #options: WatchedThreadOptions;
  readonly #ready: Promise<void>;
  readonly #exited: Promise<void>;
  #setReady = (): void => {};
  #silentChecks = 0;
  /** The operating system's id of the thread. */
  #threadId: string | undefined;
  /** CPU time at the first check without an answer. */
  #cpuMs: number | undefined;
  #isMainLate = false;
  #timer: Timer;
  #goneReason: string | undefined;
  #isEnding = false;

  constructor(options: WatchedThreadOptions) {
    const { worker, clock, name } = options;
    this.#options = options;
    this.#ready = new Promise((resolve) => {
      this.#setReady = resolve;
    });
    worker.on('message', () => {
      this.#silentChecks = 0;
    });
    worker.on('error', (error) => this.#lose(`the ${name} failed: ${describe(error)}`));
    this.#exited = new Promise((resolve) => {
      worker.once('exit', (code) => {
        this.#lose(`the ${name} ended with code ${code}`);
        this.#setReady();
        resolve();
      });
    });
    this.#timer = clock.setTimer(() => this.#terminate(`the ${name} does not start`), START_TIMEOUT_MS);
  }

  /** The reason for which the thread is gone. */
  get goneReason(): string | undefined {
    return this.#goneReason;
  }

  get isAlive(): boolean {
    return this.#goneReason === undefined && !this.#isEnding;
  }

  /** The thread has said that it is ready. @param threadId - Its `systemThreadId`. */
  setReady(threadId?: string): void {
    this.#threadId = threadId;
    this.#watch();
    this.#setReady();
  }

  /** Resolves when the thread is ready, or gone. @see goneReason */
  untilReady(): Promise<void> {
    return this.#ready;
  }

  /** Resolves when the thread has exited; one that does not end by itself is terminated. Idempotent. */
  async end(): Promise<void> {
    if (this.isAlive) {
      this.#isEnding = true;
      this.#timer.cancel();
      const { clock, worker, askToEnd } = this.#options;
      this.#timer = clock.setTimer(() => void worker.terminate(), END_TIMEOUT_MS);
      askToEnd();
    }
    await this.#exited;
  }

  #watch(): void {
    this.#timer.cancel();
    if (!this.isAlive) return;
    const { clock, name, ping } = this.#options;
    const dueMs = clock.monotonicMs() + CHECK_INTERVAL_MS;
    this.#timer = clock.setTimer(() => {
      if (this.#isHung(clock.monotonicMs() - dueMs)) return this.#terminate(`the ${name} does not answer`);
      this.#silentChecks++;
      ping?.();
      this.#watch();
    }, CHECK_INTERVAL_MS);
  }

  /** @param lateMs - How late this check runs. */
  #isHung(lateMs: number): boolean {
    const cpuMs = this.#readCpuMs();
    if (this.#silentChecks === 0) {
      this.#cpuMs = cpuMs;
      this.#isMainLate = false;
    }
    this.#isMainLate ||= lateMs > LATE_CHECK_MS;
    if (this.#silentChecks < MAX_SILENT_CHECKS) return false;
    const hasRun =
      cpuMs === undefined || this.#cpuMs === undefined
        ? !this.#isMainLate
        : cpuMs - this.#cpuMs >= HUNG_CPU_MS;
    return hasRun || this.#silentChecks >= MAX_STARVED_CHECKS;
  }

  #readCpuMs(): number | undefined {
    const { cpuMs = threadCpuMs } = this.#options;
    return this.#threadId === undefined ? undefined : cpuMs(this.#threadId);
  }

  #terminate(reason: string): void {
    this.#lose(reason);
    void this.#options.worker.terminate();
  }

  #lose(reason: string): void {
    if (this.#goneReason !== undefined) return;
    this.#goneReason = reason;
    this.#timer.cancel();
    this.#options.onGone(reason, !this.#isEnding);
  }
}

/** An error without memory has no stack. */
function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
