import type { Worker } from 'node:worker_threads';

import type { Clock, Timer } from '../values/clock.ts';
import { type Calls, type Notifications, type Port, type Remote, remoteOf, serve } from './remote.ts';
import { systemThreadId, threadCpuMs } from './threadCpuTime.ts';

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

/** The messages between a thread and who watches or pools it, beside those of `remote.ts`. */
export type ThreadMessage =
  /** Answered by `pong`, unless the thread hangs. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'pong' }
  /** @property threadId - The operating system's id of the thread; undefined where it has none. */
  | { readonly kind: 'ready'; readonly value: unknown; readonly threadId: string | undefined };

/** The part of `MessagePort` that a thread uses. */
export interface ThreadPort extends Port {
  close(): void;
}

export interface WatchedThreadOptions<Ready> {
  /** The thread's name in reasons, such as `media thread`. */
  readonly name: string;
  /** A thread that calls {@link serveThread}. */
  readonly worker: Worker;
  readonly clock: Clock;
  /** Gets the thread's notifications. */
  readonly events?: object;
  /** CPU time of a thread by its system id; undefined where it is not known. Default: the operating system's. */
  readonly cpuMs?: (threadId: string) => number | undefined;
  /** Creates the error of calls to a thread that is gone. Default: an `Error` with the reason. */
  readonly toError?: (reason: string) => Error;
  readonly onReady?: (ready: Ready) => void;
  /** Called once, when the thread has died, or hung and was terminated; not after {@link WatchedThread.end}. */
  readonly onLost: (reason: string) => void;
}

/**
 * A worker thread from its start to its end, whose death and silence are noticed. It hangs when it does not answer
 * although it has run; one that the machine gives no time is waited for. Where a thread's CPU time is not known, it is
 * taken for starved while the main thread is late too.
 *
 * @typeParam Methods - What the thread serves. `end` tells it to end by itself.
 * @typeParam Ready - What it says when it is ready.
 */
export class WatchedThread<Methods extends { end(): unknown }, Ready = undefined> {
  readonly #options: WatchedThreadOptions<Ready>;
  readonly #remote: Remote<Methods>;
  readonly #ready: Promise<Ready>;
  readonly #exited: Promise<void>;
  #setReady: (ready: Ready) => void = () => undefined;
  #silentChecks = 0;
  /** The operating system's id of the thread. */
  #threadId: string | undefined;
  /** CPU time at the first check without an answer. */
  #cpuMs: number | undefined;
  #isMainLate = false;
  #timer: Timer;
  #goneReason: string | undefined;
  #isEnding = false;
  #rejectReady: (error: Error) => void = () => undefined;

  constructor(options: WatchedThreadOptions<Ready>) {
    const { worker, clock, name, events } = options;
    this.#options = options;
    this.#ready = new Promise((resolve, reject) => {
      this.#setReady = resolve;
      this.#rejectReady = reject;
    });
    this.#ready.catch(() => undefined); // reported by onLost
    worker.on('message', (message: ThreadMessage) => {
      this.#silentChecks = 0;
      if (message.kind !== 'ready') return;
      this.#threadId = message.threadId;
      this.#watch();
      options.onReady?.(message.value as Ready);
      this.#setReady(message.value as Ready);
    });
    this.#remote = remoteOf<Methods>(worker);
    if (events) serve(worker, events);
    worker.on('error', (error) => this.#lose(`the ${name} failed: ${describe(error)}`));
    this.#exited = new Promise((resolve) => {
      worker.once('exit', (code) => {
        this.#lose(`the ${name} ended with code ${code}`);
        resolve();
      });
    });
    this.#timer = clock.setTimer(() => this.#terminate(`the ${name} does not start`), START_TIMEOUT_MS);
  }

  /** Calls the thread; rejects when it is gone, or dies meanwhile. */
  get call(): Calls<Methods> {
    return this.#remote.call;
  }

  get notify(): Notifications<Methods> {
    return this.#remote.notify;
  }

  get isAlive(): boolean {
    return this.#goneReason === undefined && !this.#isEnding;
  }

  /** Resolves with what the thread says when it is ready; rejects when it died before. */
  untilReady(): Promise<Ready> {
    return this.#ready;
  }

  /** Resolves when the thread has exited; one that does not end by itself is terminated. Idempotent. */
  async end(): Promise<void> {
    if (this.isAlive) {
      this.#isEnding = true;
      this.#timer.cancel();
      const { clock, worker } = this.#options;
      this.#timer = clock.setTimer(() => void worker.terminate(), END_TIMEOUT_MS);
      this.#remote.notify.end();
    }
    await this.#exited;
  }

  #watch(): void {
    this.#timer.cancel();
    if (!this.isAlive) return;
    const { clock, name, worker } = this.#options;
    const dueMs = clock.monotonicMs() + CHECK_INTERVAL_MS;
    this.#timer = clock.setTimer(() => {
      if (this.#isHung(clock.monotonicMs() - dueMs)) return this.#terminate(`the ${name} does not answer`);
      this.#silentChecks++;
      worker.postMessage({ kind: 'ping' } satisfies ThreadMessage);
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
    const error = this.#options.toError?.(reason) ?? new Error(reason);
    this.#rejectReady(error);
    this.#remote.close(error);
    if (!this.#isEnding) this.#options.onLost(reason);
  }
}

/**
 * The thread's side of a {@link WatchedThread}, and of a thread in a pool: serves its methods, and says that it is ready.
 *
 * @param ready - What it says besides.
 */
export function serveThread(port: Port, methods: object, ready?: unknown): void {
  const post = (message: ThreadMessage) => port.postMessage(message);
  port.on('message', (message) => {
    if (message instanceof Object && 'kind' in message && message.kind === 'ping') post({ kind: 'pong' });
  });
  serve(port, methods);
  post({ kind: 'ready', value: ready, threadId: systemThreadId() });
}

/** An error without memory has no stack. */
function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
