import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/values/clock.ts';
import type { LoopDelay } from './threadMessages.ts';
import { VoiceThread } from './voiceThread.ts';

export interface VoiceThreadsOptions {
  readonly clock: Clock;
  /** The node's id, to which each thread adds a number. */
  readonly nodeId: string;
  readonly maxThreads: number;
  readonly startThread: (start: VoiceThreadStart) => Worker;
  /** Gets what each thread reports besides. */
  readonly reports: object;
  readonly onFault: (fault: VoiceThreadFault) => void;
}

export interface VoiceThreadStart {
  readonly number: number;
  readonly nodeId: string;
  /** It replaces one that has died, and takes over what that one has left on disk. */
  readonly isReplacement: boolean;
}

/** A thread that died with its sessions; calls resume them on another. */
export interface VoiceThreadFault {
  readonly nodeId: string;
  readonly reason: string;
  readonly sessions: number;
}

/** A thread that accepts audio streams. */
export interface RunningVoiceThread {
  readonly number: number;
  readonly nodeId: string;
  readonly port: number;
  readonly sessions: number;
  readonly delay: LoopDelay;
}

/** Another thread is started when each has as many sessions: a twentieth of a core at most for each. */
const SESSIONS_PER_THREAD = 16;
/** A thread that dies sooner than this is replaced no sooner. */
const RESTART_DELAY_MS = 1_000;

/**
 * The threads of a node that run voice sessions. One starts with the node, the others as sessions need them; one that
 * dies is replaced.
 */
export class VoiceThreads<Grant = unknown> {
  readonly #options: VoiceThreadsOptions;
  readonly #threads = new Set<VoiceThread<Grant>>();
  #started = 0;
  #isRegistered = false;
  #isOverloaded = false;
  #isDraining = false;
  #closing: Promise<void> | undefined;

  constructor(options: VoiceThreadsOptions) {
    this.#options = options;
  }

  /** Starts the first thread. Resolves when it accepts audio streams. @throws {Error} When it cannot be started. */
  async start(): Promise<void> {
    await this.#startThread(false).untilReady();
  }

  get running(): readonly RunningVoiceThread[] {
    return [...this.#threads].flatMap(({ number, nodeId, port, sessions, delay }) =>
      port === undefined ? [] : [{ number, nodeId, port, sessions, delay }],
    );
  }

  get sessions(): number {
    return this.running.reduce((sum, { sessions }) => sum + sessions, 0);
  }

  /**
   * Lets a thread serve the stream of a call that connects with this ticket.
   *
   * @returns The thread's Unix domain socket, if it has one; undefined when it is none of this node's, or has died.
   */
  admit(nodeId: string, ticket: string, grant: Grant): Pick<VoiceThread, 'socketPath'> | undefined {
    const thread = [...this.#threads].find((one) => one.nodeId === nodeId);
    thread?.admit(ticket, grant);
    return thread;
  }

  /** Registers the threads, those that start later too, with the media nodes. */
  async register(): Promise<void> {
    this.#isRegistered = true;
    const ready = [...this.#threads].filter(({ port }) => port !== undefined);
    await Promise.all(ready.map((thread) => thread.register()));
  }

  /** Whether this node is overloaded: media nodes then choose others. */
  tellOverload(isOverloaded: boolean): void {
    this.#isOverloaded = isOverloaded;
    for (const thread of this.#threads) if (thread.port !== undefined) thread.tellOverload(isOverloaded);
  }

  /** Resolves when no session is left. New calls of this node are still served until {@link close}. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    await Promise.all([...this.#threads].map((thread) => thread.drain(graceMs)));
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#threads].map((thread) => thread.end())).then(() => undefined);
    return this.#closing;
  }

  #startThread(isReplacement: boolean): VoiceThread<Grant> {
    const { clock, nodeId: node, startThread, reports, onFault } = this.#options;
    const taken = new Set([...this.#threads].map(({ number }) => number));
    let number = 1;
    while (taken.has(number)) number++;
    const nodeId = `${node}/voice-${++this.#started}`;
    const startedMs = clock.monotonicMs();
    const thread: VoiceThread<Grant> = new VoiceThread({
      number,
      nodeId,
      worker: startThread({ number, nodeId, isReplacement }),
      clock,
      reports,
      onSessions: () => this.#grow(),
      onLost: (reason) => {
        this.#threads.delete(thread);
        onFault({ nodeId, reason, sessions: thread.sessions });
        this.#replace(clock.monotonicMs() - startedMs);
      },
    });
    this.#threads.add(thread);
    thread.untilReady().then(
      () => this.#onReady(thread),
      () => undefined, // reported by onLost
    );
    return thread;
  }

  #onReady(thread: VoiceThread<Grant>): void {
    if (this.#isOverloaded) thread.tellOverload(true);
    if (this.#isRegistered && !this.#isDraining) void thread.register();
  }

  #grow(): void {
    const isFull = [...this.#threads].every(({ sessions }) => sessions >= SESSIONS_PER_THREAD);
    if (!isFull || this.#threads.size >= this.#options.maxThreads || this.#closing) return;
    this.#startThread(false);
  }

  #replace(livedMs: number): void {
    const start = () => {
      if (!this.#closing) this.#startThread(true);
    };
    if (livedMs > RESTART_DELAY_MS) start();
    else this.#options.clock.setTimer(start, RESTART_DELAY_MS);
  }
}
