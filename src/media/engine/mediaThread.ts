import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import {
  type FromThread,
  fromFailure,
  type MediaThreadEvent,
  type ThreadRequest,
  type ThreadRequestName,
  type ThreadRequests,
  type ThreadStatistics,
  type ToThread,
} from './threadMessages.ts';

export interface MediaThreadOptions {
  readonly clock: Clock;
  readonly worker: Worker;
  readonly onEvent: (session: number, event: MediaThreadEvent) => void;
  readonly onFault: (session: number, message: string) => void;
  /** Called once, when the thread has died, or hung and was terminated. */
  readonly onLost: (reason: string) => void;
}

interface PendingRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** For loading its code on a very busy machine. */
const START_TIMEOUT_MS = 120_000;
const PING_INTERVAL_MS = 5_000;
/** A main thread that was itself suspended finds its timer due before the answers that have arrived. */
const MAX_UNANSWERED_PINGS = 2;
/** For closing recordings and streams. */
const END_TIMEOUT_MS = 10_000;

/** The main thread's side of one media thread: requests, events, and detection of its death. */
export class MediaThread {
  readonly sessions = new Set<number>();
  readonly #options: MediaThreadOptions;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #ready: Promise<void>;
  readonly #exited: Promise<void>;
  #nextRequestId = 1;
  #unanswered = 0;
  #pingTimer: Timer | undefined;
  #statisticsPending: ((statistics: ThreadStatistics) => void)[] = [];
  #lostReason: string | undefined;
  #isEnding = false;

  constructor(options: MediaThreadOptions) {
    const { worker } = options;
    this.#options = options;
    let setReady = (): void => {};
    this.#ready = new Promise((resolve) => {
      setReady = resolve;
    });
    worker.on('message', (message: FromThread) => {
      if (message.kind !== 'ready') return this.#receive(message);
      this.#pingTimer?.cancel();
      this.#schedulePing();
      setReady();
    });
    worker.on('error', (error) => this.#lose(`the media thread failed: ${error.message}`));
    this.#exited = new Promise((resolve) => {
      worker.once('exit', (code) => {
        this.#lose(`the media thread ended with code ${code}`);
        setReady();
        resolve();
      });
    });
    this.#pingTimer = options.clock.setTimer(() => {
      this.#lose('the media thread does not start');
      void worker.terminate();
    }, START_TIMEOUT_MS);
  }

  /** Resolves when the thread takes requests. @throws {CallwayError} `media_lost` when it died before. */
  async untilReady(): Promise<void> {
    await this.#ready;
    if (this.#lostReason !== undefined) throw lostError(this.#lostReason);
  }

  get isAlive(): boolean {
    return this.#lostReason === undefined && !this.#isEnding;
  }

  /** @throws {CallwayError} The thread's own; `media_lost` when it is dead or dies meanwhile. */
  request<Name extends ThreadRequestName>(
    session: number,
    name: Name,
    argument: ThreadRequests[Name][0],
  ): Promise<ThreadRequests[Name][1]> {
    return new Promise((resolve, reject) => {
      if (this.#lostReason !== undefined) return reject(lostError(this.#lostReason));
      const requestId = this.#nextRequestId++;
      this.#pending.set(requestId, { resolve: resolve as (result: unknown) => void, reject });
      this.#post({ kind: 'request', requestId, session, name, argument } as ThreadRequest);
    });
  }

  statistics(): Promise<ThreadStatistics> {
    return new Promise((resolve, reject) => {
      if (this.#lostReason !== undefined) return reject(lostError(this.#lostReason));
      this.#statisticsPending.push(resolve);
      this.#post({ kind: 'ping' });
    });
  }

  /** Closes the thread's sessions and ends it. Idempotent. */
  async end(): Promise<void> {
    this.#pingTimer?.cancel();
    if (this.isAlive) {
      this.#isEnding = true;
      this.#post({ kind: 'end' });
      const timer = this.#options.clock.setTimer(() => void this.#options.worker.terminate(), END_TIMEOUT_MS);
      await this.#exited;
      timer.cancel();
    }
    await this.#exited;
  }

  #post(message: ToThread): void {
    this.#options.worker.postMessage(message);
  }

  #receive(message: Exclude<FromThread, { kind: 'ready' }>): void {
    this.#unanswered = 0;
    switch (message.kind) {
      case 'result':
        this.#takePending(message.requestId)?.resolve(message.result);
        return;
      case 'failure':
        this.#takePending(message.requestId)?.reject(fromFailure(message.failure));
        return;
      case 'event':
        this.#options.onEvent(message.session, message.event);
        return;
      case 'fault':
        this.#options.onFault(message.session, message.message);
        return;
      case 'pong':
        for (const resolve of this.#statisticsPending.splice(0)) resolve(message.statistics);
    }
  }

  #takePending(requestId: number): PendingRequest | undefined {
    const request = this.#pending.get(requestId);
    this.#pending.delete(requestId);
    return request;
  }

  #schedulePing(): void {
    this.#pingTimer = this.#options.clock.setTimer(() => {
      if (this.#unanswered >= MAX_UNANSWERED_PINGS) {
        this.#lose('the media thread does not answer');
        void this.#options.worker.terminate();
        return;
      }
      this.#unanswered++;
      this.#post({ kind: 'ping' });
      this.#schedulePing();
    }, PING_INTERVAL_MS);
  }

  #lose(reason: string): void {
    if (this.#lostReason !== undefined) return;
    this.#lostReason = reason;
    this.#pingTimer?.cancel();
    for (const { reject } of this.#pending.values()) reject(lostError(reason));
    this.#pending.clear();
    if (!this.#isEnding) this.#options.onLost(reason);
  }
}

function lostError(reason: string): CallwayError {
  return new CallwayError('unavailable', 'media_lost', `the call’s audio is lost: ${reason}`);
}
