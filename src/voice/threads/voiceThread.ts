import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../base/clock.ts';
import type { FromVoiceThread, LoopDelay, ToVoiceThread } from './threadMessages.ts';

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

/** For loading its code on a very busy machine. */
const START_TIMEOUT_MS = 120_000;
const CHECK_INTERVAL_MS = 5_000;
/** A main thread that was itself suspended finds its timer due before the messages that have arrived. */
const MAX_SILENT_CHECKS = 2;
/** For closing its connections. */
const END_TIMEOUT_MS = 10_000;

/** The main thread's side of one voice thread: its load, and detection of its death. */
export class VoiceThread<Report = unknown> {
  readonly number: number;
  readonly nodeId: string;
  /** Undefined until the thread is ready. */
  port: number | undefined;
  sessions = 0;
  delay: LoopDelay = { waitMs: 0, p99Ms: 0, maxMs: 0 };
  readonly #options: VoiceThreadOptions<Report>;
  readonly #ready: Promise<void>;
  readonly #registered: Promise<void>;
  readonly #drained: Promise<void>;
  readonly #exited: Promise<void>;
  #silentChecks = 0;
  #timer: Timer;
  #lostReason: string | undefined;
  #isEnding = false;

  constructor(options: VoiceThreadOptions<Report>) {
    const { worker, clock, number, nodeId } = options;
    this.#options = options;
    this.number = number;
    this.nodeId = nodeId;
    const ready = deferred();
    const registered = deferred();
    const drained = deferred();
    this.#ready = ready.promise;
    this.#registered = registered.promise;
    this.#drained = drained.promise;
    worker.on('message', (message: FromVoiceThread<Report>) => {
      this.#silentChecks = 0;
      switch (message.kind) {
        case 'ready':
          this.port = message.port;
          this.#watch();
          return ready.resolve();
        case 'sessions':
          this.sessions = message.count;
          return options.onSessions();
        case 'delay':
          this.delay = message.delay;
          return;
        case 'registered':
          return registered.resolve();
        case 'drained':
          return drained.resolve();
        case 'report':
          return options.onReport(message.report);
      }
    });
    worker.on('error', (error) => this.#lose(`the voice thread failed: ${describe(error)}`));
    this.#exited = new Promise((resolve) => {
      worker.once('exit', (code) => {
        this.#lose(`the voice thread ended with code ${code}`);
        ready.resolve();
        registered.resolve();
        drained.resolve();
        resolve();
      });
    });
    this.#timer = clock.setTimer(() => this.#terminate('the voice thread does not start'), START_TIMEOUT_MS);
  }

  /** Resolves when the thread accepts audio streams. @throws {Error} When it has died before. */
  async untilReady(): Promise<void> {
    await this.#ready;
    if (this.#lostReason !== undefined) throw new Error(this.#lostReason);
  }

  /** Registers the thread with the media nodes. Never rejects: a failed registration is repeated. */
  async register(): Promise<void> {
    this.#post({ kind: 'register' });
    await this.#registered;
  }

  /** Resolves when the thread has no session left; after `graceMs` it closes their streams. */
  async drain(graceMs: number): Promise<void> {
    this.#post({ kind: 'drain', graceMs });
    await this.#drained;
  }

  /** Ends the thread and what it still runs. Idempotent. */
  async end(): Promise<void> {
    this.#timer.cancel();
    if (!this.#isEnding && this.#lostReason === undefined) {
      this.#isEnding = true;
      this.#post({ kind: 'end' });
      const timer = this.#options.clock.setTimer(() => void this.#options.worker.terminate(), END_TIMEOUT_MS);
      await this.#exited;
      timer.cancel();
    }
    await this.#exited;
  }

  #post(message: ToVoiceThread): void {
    this.#options.worker.postMessage(message);
  }

  #watch(): void {
    this.#timer.cancel();
    this.#timer = this.#options.clock.setTimer(() => {
      if (this.#silentChecks >= MAX_SILENT_CHECKS) return this.#terminate('the voice thread does not answer');
      this.#silentChecks++;
      this.#watch();
    }, CHECK_INTERVAL_MS);
  }

  #terminate(reason: string): void {
    this.#lose(reason);
    void this.#options.worker.terminate();
  }

  #lose(reason: string): void {
    if (this.#lostReason !== undefined || this.#isEnding) return;
    this.#lostReason = reason;
    this.#timer.cancel();
    this.#options.onLost(reason);
  }
}

function deferred() {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** An error without memory has no stack. */
function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
