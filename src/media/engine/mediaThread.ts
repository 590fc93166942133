import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import {
  type FromThread,
  fromFailure,
  type MediaThreadEvent,
  type ThreadCall,
  type ThreadCallName,
  type ThreadCalls,
  type ThreadStatistics,
  type ToThread,
} from './threadMessages.ts';

export interface MediaThreadOptions {
  readonly clock: Clock;
  readonly worker: Worker;
  readonly onEvent: (session: number, event: MediaThreadEvent) => void;
  readonly onFault: (session: number, message: string) => void;
  /** Once: the thread ended, or hangs and was ended, without being asked to. */
  readonly onLost: (reason: string) => void;
}

interface Asked {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** To load its code, on a machine that is very busy. */
const START_TIMEOUT_MS = 120_000;
const PING_INTERVAL_MS = 5_000;
/** Several, since a main thread that stood still itself finds its timer due before the answers that lie ready. */
const MAX_UNANSWERED_PINGS = 2;
/** Recordings are closed and engines are taken leave of within it; then the thread is cut off. */
const END_TIMEOUT_MS = 10_000;

/** The main thread's end of one media thread: calls into it, events out of it, and whether it lives. */
export class MediaThread {
  readonly sessions = new Set<number>();
  readonly #options: MediaThreadOptions;
  readonly #asked = new Map<number, Asked>();
  readonly #ready: Promise<void>;
  readonly #exited: Promise<void>;
  #nextCall = 1;
  #unanswered = 0;
  #pingTimer: Timer | undefined;
  #statisticsAsked: ((statistics: ThreadStatistics) => void)[] = [];
  #lost: string | undefined;
  #isEnding = false;

  constructor(options: MediaThreadOptions) {
    const { worker } = options;
    this.#options = options;
    let becomeReady = (): void => {};
    this.#ready = new Promise((resolve) => {
      becomeReady = resolve;
    });
    worker.on('message', (message: FromThread) => {
      if (message.kind !== 'ready') return this.#take(message);
      this.#pingTimer?.cancel();
      this.#ping();
      becomeReady();
    });
    worker.on('error', (error) => this.#lose(`the media thread failed: ${error.message}`));
    this.#exited = new Promise((resolve) => {
      worker.once('exit', (code) => {
        this.#lose(`the media thread ended with code ${code}`);
        becomeReady();
        resolve();
      });
    });
    this.#pingTimer = options.clock.setTimer(() => {
      this.#lose('the media thread does not start');
      void worker.terminate();
    }, START_TIMEOUT_MS);
  }

  /** Resolves when it takes calls. @throws {CallwayError} `media_lost` when it died before. */
  async untilReady(): Promise<void> {
    await this.#ready;
    if (this.#lost !== undefined) throw lostError(this.#lost);
  }

  get isAlive(): boolean {
    return this.#lost === undefined && !this.#isEnding;
  }

  /** @throws {CallwayError} The thread's own; `media_lost` when it is dead or dies meanwhile. */
  call<Name extends ThreadCallName>(
    session: number,
    name: Name,
    sent: ThreadCalls[Name]['sent'],
  ): Promise<ThreadCalls[Name]['answer']> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) {
        reject(lostError(this.#lost));
        return;
      }
      const callNumber = this.#nextCall++;
      this.#asked.set(callNumber, { resolve: resolve as (answer: unknown) => void, reject });
      this.#tell({ kind: 'call', callNumber, session, name, sent } as ThreadCall);
    });
  }

  statistics(): Promise<ThreadStatistics> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) {
        reject(lostError(this.#lost));
        return;
      }
      this.#statisticsAsked.push(resolve);
      this.#tell({ kind: 'ping' });
    });
  }

  /** Closes its sessions and ends it; idempotent. */
  async end(): Promise<void> {
    this.#pingTimer?.cancel();
    if (!this.#isEnding && this.#lost === undefined) {
      this.#isEnding = true;
      this.#tell({ kind: 'end' });
      const timer = this.#options.clock.setTimer(() => void this.#options.worker.terminate(), END_TIMEOUT_MS);
      await this.#exited;
      timer.cancel();
    }
    await this.#exited;
  }

  #tell(message: ToThread): void {
    this.#options.worker.postMessage(message);
  }

  #take(message: Exclude<FromThread, { kind: 'ready' }>): void {
    this.#unanswered = 0;
    switch (message.kind) {
      case 'answer':
        this.#settle(message.callNumber)?.resolve(message.answer);
        return;
      case 'failure':
        this.#settle(message.callNumber)?.reject(fromFailure(message.failure));
        return;
      case 'event':
        this.#options.onEvent(message.session, message.event);
        return;
      case 'fault':
        this.#options.onFault(message.session, message.message);
        return;
      case 'alive':
        for (const resolve of this.#statisticsAsked.splice(0)) resolve(message.statistics);
    }
  }

  #settle(callNumber: number): Asked | undefined {
    const asked = this.#asked.get(callNumber);
    this.#asked.delete(callNumber);
    return asked;
  }

  #ping(): void {
    this.#pingTimer = this.#options.clock.setTimer(() => {
      if (this.#unanswered >= MAX_UNANSWERED_PINGS) {
        this.#lose('the media thread does not answer');
        void this.#options.worker.terminate();
        return;
      }
      this.#unanswered++;
      this.#tell({ kind: 'ping' });
      this.#ping();
    }, PING_INTERVAL_MS);
  }

  #lose(reason: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    this.#pingTimer?.cancel();
    for (const { reject } of this.#asked.values()) reject(lostError(reason));
    this.#asked.clear();
    if (!this.#isEnding) this.#options.onLost(reason);
  }
}

function lostError(reason: string): CallwayError {
  return new CallwayError('unavailable', 'media_lost', `the call’s audio is lost: ${reason}`);
}
