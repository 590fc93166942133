import type { Worker } from 'node:worker_threads';
import { CallwayError } from '../../base/errors.ts';
import { WatchedThread } from '../../base/threads/watchedThread.ts';
import type { Clock } from '../../base/values/clock.ts';
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

interface PendingRequest<Result = unknown> {
  resolve(result: Result): void;
  reject(error: Error): void;
}

/** The main thread's side of one media thread: requests and events. */
export class MediaThread {
  readonly sessions = new Set<number>();
  readonly #options: MediaThreadOptions;
  readonly #thread: WatchedThread;
  readonly #pending = new Map<number, PendingRequest>();
  #nextRequestId = 1;
  #statisticsPending: PendingRequest<ThreadStatistics>[] = [];

  constructor(options: MediaThreadOptions) {
    const { worker, clock } = options;
    this.#options = options;
    this.#thread = new WatchedThread({
      name: 'media thread',
      worker,
      clock,
      askToEnd: () => this.#post({ kind: 'end' }),
      ping: () => this.#post({ kind: 'ping' }),
      onGone: (reason, isFault) => {
        this.#rejectPending(reason);
        if (isFault) options.onLost(reason);
      },
    });
    worker.on('message', (message: FromThread) => this.#receive(message));
  }

  /** Resolves when the thread takes requests. @throws {CallwayError} `media_lost` when it died before. */
  async untilReady(): Promise<void> {
    await this.#thread.untilReady();
    const { goneReason } = this.#thread;
    if (goneReason !== undefined) throw lostError(goneReason);
  }

  get isAlive(): boolean {
    return this.#thread.isAlive;
  }

  /** @throws {CallwayError} The thread's own; `media_lost` when it is dead or dies meanwhile. */
  request<Name extends ThreadRequestName>(
    session: number,
    name: Name,
    argument: ThreadRequests[Name][0],
  ): Promise<ThreadRequests[Name][1]> {
    return new Promise((resolve, reject) => {
      const { goneReason } = this.#thread;
      if (goneReason !== undefined) return reject(lostError(goneReason));
      const requestId = this.#nextRequestId++;
      this.#pending.set(requestId, { resolve: resolve as (result: unknown) => void, reject });
      this.#post({ kind: 'request', requestId, session, name, argument } as ThreadRequest);
    });
  }

  /** @throws {CallwayError} `media_lost` when the thread is dead or dies meanwhile. */
  statistics(): Promise<ThreadStatistics> {
    return new Promise((resolve, reject) => {
      const { goneReason } = this.#thread;
      if (goneReason !== undefined) return reject(lostError(goneReason));
      this.#statisticsPending.push({ resolve, reject });
      this.#post({ kind: 'ping' });
    });
  }

  /** Closes the thread's sessions and ends it. Idempotent. */
  end(): Promise<void> {
    return this.#thread.end();
  }

  #post(message: ToThread): void {
    this.#options.worker.postMessage(message);
  }

  #receive(message: FromThread): void {
    switch (message.kind) {
      case 'ready':
        this.#thread.setReady(message.threadId);
        return;
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
        for (const { resolve } of this.#statisticsPending.splice(0)) resolve(message.statistics);
    }
  }

  #takePending(requestId: number): PendingRequest | undefined {
    const request = this.#pending.get(requestId);
    this.#pending.delete(requestId);
    return request;
  }

  #rejectPending(reason: string): void {
    const pending = [...this.#pending.values(), ...this.#statisticsPending.splice(0)];
    this.#pending.clear();
    for (const { reject } of pending) reject(lostError(reason));
  }
}

function lostError(reason: string): CallwayError {
  return new CallwayError('unavailable', 'media_lost', `the call’s audio is lost: ${reason}`);
}
