import type { Worker } from 'node:worker_threads';
import { WatchedThread } from '../../base/threads/watchedThread.ts';
import type { Clock } from '../../base/values/clock.ts';
import {
  type LoopDelay,
  REPORT_INTERVAL_MS,
  type VoiceThreadEvents,
  type VoiceThreadMethods,
  type VoiceThreadReady,
} from './threadMessages.ts';

export interface VoiceThreadOptions {
  /** Its lowest free number on this node, from 1. */
  readonly number: number;
  /** Names this run of the thread to all nodes. */
  readonly nodeId: string;
  readonly worker: Worker;
  readonly clock: Clock;
  /** Gets what the program wants to hear of its threads besides. */
  readonly reports: object;
  readonly onSessions: () => void;
  /** Called once, when the thread has died, or hung and was terminated; not after {@link VoiceThread.end}. */
  readonly onLost: (reason: string) => void;
}

/** The main thread's side of one voice thread: what it is told, and its load. */
export class VoiceThread<Grant = unknown> {
  readonly number: number;
  readonly nodeId: string;
  /** Undefined until the thread is ready. */
  port: number | undefined;
  /** For calls of this node; undefined where they connect to the port. */
  socketPath: string | undefined;
  sessions = 0;
  #delay: LoopDelay = { waitMs: 0, p99Ms: 0, maxMs: 0 };
  #reportedMs = 0;
  readonly #clock: Clock;
  readonly #thread: WatchedThread<VoiceThreadMethods<Grant>, VoiceThreadReady>;

  constructor({ worker, clock, number, nodeId, reports, onSessions, onLost }: VoiceThreadOptions) {
    this.#clock = clock;
    this.number = number;
    this.nodeId = nodeId;
    const events: VoiceThreadEvents = {
      sessions: (count) => {
        this.sessions = count;
        onSessions();
      },
      delay: (delay) => {
        this.#delay = delay;
        this.#reportedMs = clock.monotonicMs();
      },
    };
    this.#thread = new WatchedThread({
      name: 'voice thread',
      worker,
      clock,
      events: { ...reports, ...events },
      onReady: ({ port, socketPath }) => {
        this.port = port;
        this.socketPath = socketPath;
        this.#reportedMs = clock.monotonicMs();
      },
      onLost,
    });
  }

  /** A thread that does not report is as late as its report. */
  get delay(): LoopDelay {
    const silentMs = this.#clock.monotonicMs() - this.#reportedMs - REPORT_INTERVAL_MS;
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
  }

  /** Lets the thread serve the stream that connects with this ticket. */
  admit(ticket: string, grant: Grant): void {
    this.#thread.notify.admit(ticket, grant);
  }

  /** Registers the thread with the media nodes. Resolves also when the thread is gone. */
  register(): Promise<void> {
    return this.#unlessGone(this.#thread.call.register());
  }

  /** Changes what the thread is registered with. */
  tellOverload(isOverloaded: boolean): void {
    this.#thread.notify.tellOverload(isOverloaded);
  }

  /** Resolves when the thread has no session left, or is gone; after `graceMs` it closes their streams. */
  drain(graceMs: number): Promise<void> {
    return this.#unlessGone(this.#thread.call.drain(graceMs));
  }

  /** Ends the thread and what it still runs. Idempotent. */
  end(): Promise<void> {
    return this.#thread.end();
  }

  async #unlessGone(call: Promise<void>): Promise<void> {
    try {
      await call;
    } catch (error) {
      if (this.#thread.isAlive) throw error;
    }
  }
}
