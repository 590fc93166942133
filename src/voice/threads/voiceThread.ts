import type { Worker } from 'node:worker_threads';
import { WatchedThread } from '../../base/threads/watchedThread.ts';
import type { Clock } from '../../base/values/clock.ts';
import {
  type FromVoiceThread,
  type LoopDelay,
  REPORT_INTERVAL_MS,
  type ToVoiceThread,
} from './threadMessages.ts';

export interface VoiceThreadOptions<Report> {
  /** Its lowest free number on this node, from 1. */
  readonly number: number;
  /** Names this run of the thread to all nodes. */
  readonly nodeId: string;
  readonly worker: Worker;
  readonly clock: Clock;
  readonly onReport: (report: Report) => void;
  readonly onSessions: () => void;
  /** Called once, when the thread has died, or hung and was terminated; not after {@link VoiceThread.end}. */
  readonly onLost: (reason: string) => void;
}

/** The main thread's side of one voice thread: what it is told, and its load. */
export class VoiceThread<Report = unknown, Grant = unknown> {
  readonly number: number;
  readonly nodeId: string;
  /** Undefined until the thread is ready. */
  port: number | undefined;
  /** For calls of this node; undefined where they connect to the port. */
  socketPath: string | undefined;
  sessions = 0;
  #delay: LoopDelay = { waitMs: 0, p99Ms: 0, maxMs: 0 };
  #reportedMs = 0;
  readonly #options: VoiceThreadOptions<Report>;
  readonly #thread: WatchedThread;
  readonly #registered: Promise<void>;
  readonly #drained: Promise<void>;

  constructor(options: VoiceThreadOptions<Report>) {
    const { worker, clock, number, nodeId } = options;
    this.#options = options;
    this.number = number;
    this.nodeId = nodeId;
    const registered = deferred();
    const drained = deferred();
    this.#registered = registered.promise;
    this.#drained = drained.promise;
    this.#thread = new WatchedThread({
      name: 'voice thread',
      worker,
      clock,
      askToEnd: () => this.#post({ kind: 'end' }),
      onGone(reason, isFault) {
        registered.resolve();
        drained.resolve();
        if (isFault) options.onLost(reason);
      },
    });
    worker.on('message', (message: FromVoiceThread<Report>) => {
      switch (message.kind) {
        case 'ready':
          this.port = message.port;
          this.socketPath = message.socketPath;
          this.#reportedMs = clock.monotonicMs();
          return this.#thread.setReady(message.threadId);
        case 'sessions':
          this.sessions = message.count;
          return options.onSessions();
        case 'delay':
          this.#delay = message.delay;
          this.#reportedMs = clock.monotonicMs();
          return;
        case 'registered':
          return registered.resolve();
        case 'drained':
          return drained.resolve();
        case 'report':
          return options.onReport(message.report);
      }
    });
  }

  /** A thread that does not report is as late as its report. */
  get delay(): LoopDelay {
    const silentMs = this.#options.clock.monotonicMs() - this.#reportedMs - REPORT_INTERVAL_MS;
    const { waitMs, p99Ms, maxMs } = this.#delay;
    return {
      waitMs: Math.max(waitMs, silentMs),
      p99Ms: Math.max(p99Ms, silentMs),
      maxMs: Math.max(maxMs, silentMs),
    };
  }

  /** Resolves when the thread accepts audio streams. @throws {Error} When it has died before. */
  async untilReady(): Promise<void> {
    await this.#thread.untilReady();
    const { goneReason } = this.#thread;
    if (goneReason !== undefined) throw new Error(goneReason);
  }

  /** Lets the thread serve the stream that connects with this ticket. */
  admit(ticket: string, grant: Grant): void {
    this.#post({ kind: 'admit', ticket, grant });
  }

  /** Registers the thread with the media nodes. Never rejects: a failed registration is repeated. */
  async register(): Promise<void> {
    this.#post({ kind: 'register' });
    await this.#registered;
  }

  /** Changes what the thread is registered with. */
  tellOverload(isOverloaded: boolean): void {
    this.#post({ kind: 'overload', isOverloaded });
  }

  /** Resolves when the thread has no session left; after `graceMs` it closes their streams. */
  async drain(graceMs: number): Promise<void> {
    this.#post({ kind: 'drain', graceMs });
    await this.#drained;
  }

  /** Ends the thread and what it still runs. Idempotent. */
  end(): Promise<void> {
    return this.#thread.end();
  }

  #post(message: ToVoiceThread<Grant>): void {
    this.#options.worker.postMessage(message);
  }
}

function deferred() {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
