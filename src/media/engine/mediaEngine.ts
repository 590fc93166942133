import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import type { MediaEngine, MediaSession, OpenMedia } from '../mediaSession.ts';
import { MediaThread } from './mediaThread.ts';
import { createPortPool } from './portPool.ts';
import { RemoteSession } from './remoteSession.ts';
import type { MediaThreadData, ThreadStatistics } from './threadMessages.ts';

export interface MediaEngineOptions {
  readonly clock: Clock;
  /** Starts a thread that runs `serveMediaThread`. */
  readonly startThread: (data: MediaThreadData) => Worker;
  readonly threads: number;
  /** First and last UDP port. */
  readonly ports: { readonly min: number; readonly max: number };
  /** Of this machine, to listen on. */
  readonly address: string;
  /** What peers are told. */
  readonly publicAddress: string;
  /** For the log: a thread that died and took its calls, a tick that threw, a listener that did. */
  readonly onFault: (trouble: MediaFault) => void;
}

export type MediaFault =
  | { readonly kind: 'thread_lost'; readonly reason: string; readonly sessions: number }
  | { readonly kind: 'session_fault' | 'listener_fault'; readonly reason: string };

/** What the port does not have: for the operator's figures. */
export interface ThreadedMediaEngine extends MediaEngine {
  /** Of the threads that answer. */
  statistics(): Promise<ThreadStatistics[]>;
}

/** A thread that dies at once, time and again, is not started faster than this. */
const RESTART_DELAY_MS = 1_000;

/**
 * Starts the media threads, and resolves when all of them take calls.
 *
 * @throws {CallwayError} `media_lost` when a thread cannot be started.
 */
export async function startMediaEngine(options: MediaEngineOptions): Promise<ThreadedMediaEngine> {
  const engine = new Engine(options);
  try {
    await engine.untilReady();
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

class Engine implements ThreadedMediaEngine {
  readonly #options: MediaEngineOptions;
  readonly #ports;
  readonly #threads = new Set<MediaThread>();
  readonly #sessions = new Map<number, RemoteSession>();
  #nextSession = 1;
  #closed: Promise<void> | undefined;

  constructor(options: MediaEngineOptions) {
    this.#options = options;
    this.#ports = createPortPool(options.ports);
    for (let n = 0; n < options.threads; n++) this.#startThread();
  }

  async untilReady(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.untilReady()));
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  async open({ timeoutMs, sameThreadAs: beside }: OpenMedia): Promise<MediaSession> {
    const thread = this.#threadOf(beside) ?? this.#idlest();
    const session = this.#nextSession++;
    thread.sessions.add(session);
    try {
      return await this.#openOn(thread, session, timeoutMs);
    } catch (error) {
      thread.sessions.delete(session);
      throw error;
    }
  }

  async statistics(): Promise<ThreadStatistics[]> {
    const asked = [...this.#threads].filter(({ isAlive }) => isAlive).map((thread) => thread.statistics());
    const answers = await Promise.allSettled(asked);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Ports that somebody else has are passed over, each once. */
  async #openOn(thread: MediaThread, session: number, timeoutMs: number): Promise<MediaSession> {
    for (let tried = 0; tried < this.#ports.size; tried++) {
      const rtpPort = this.#ports.take();
      if (rtpPort === undefined) break;
      try {
        await thread.call(session, 'open', { rtpPort, timeoutMs });
        return this.#register(thread, session, rtpPort);
      } catch (error) {
        this.#ports.free(rtpPort);
        const isTaken = error instanceof CallwayError && error.code === 'EADDRINUSE';
        if (!isTaken) throw error;
      }
    }
    throw new CallwayError('unavailable', 'media_ports_exhausted', 'all ports for audio are in use', {
      retryAfterSeconds: 1,
    });
  }

  #register(thread: MediaThread, session: number, rtpPort: number): RemoteSession {
    const remote: RemoteSession = new RemoteSession({
      number: session,
      address: this.#options.publicAddress,
      rtpPort,
      line: { call: (name, sent) => thread.call(session, name, sent) },
      onClosed: () => {
        thread.sessions.delete(session);
        this.#sessions.delete(session);
        this.#ports.free(rtpPort);
      },
      onListenerError: (error) => this.#options.onFault({ kind: 'listener_fault', reason: reasonOf(error) }),
    });
    this.#sessions.set(session, remote);
    return remote;
  }

  /** Where a call lives; undefined for one that is none of this engine's, or whose thread is gone. */
  #threadOf(call: MediaSession | undefined): MediaThread | undefined {
    if (!(call instanceof RemoteSession)) return undefined;
    return [...this.#threads].find(({ isAlive, sessions }) => isAlive && sessions.has(call.number));
  }

  #idlest(): MediaThread {
    let idlest: MediaThread | undefined;
    for (const thread of this.#threads) {
      if (!thread.isAlive) continue;
      if (idlest === undefined || thread.sessions.size < idlest.sessions.size) idlest = thread;
    }
    if (idlest !== undefined && this.#closed === undefined) return idlest;
    throw new CallwayError('unavailable', 'media_unavailable', 'no thread for audio runs at the moment', {
      retryAfterSeconds: 5,
    });
  }

  #startThread(): void {
    const { clock, startThread, address, onFault: onTrouble } = this.#options;
    const startedMs = clock.monotonicMs();
    const thread: MediaThread = new MediaThread({
      clock,
      worker: startThread({ address }),
      onEvent: (session, event) => this.#sessions.get(session)?.announce(event),
      onFault: (session, reason) => {
        onTrouble({ kind: 'session_fault', reason });
        this.#sessions.get(session)?.lose('its audio failed');
      },
      onLost: (reason) => {
        this.#threads.delete(thread);
        onTrouble({ kind: 'thread_lost', reason, sessions: thread.sessions.size });
        for (const session of thread.sessions) this.#sessions.get(session)?.lose(reason);
        this.#restart(clock.monotonicMs() - startedMs);
      },
    });
    this.#threads.add(thread);
  }

  #restart(livedMs: number): void {
    const start = () => {
      if (this.#closed === undefined) this.#startThread();
    };
    if (livedMs > RESTART_DELAY_MS) start();
    else this.#options.clock.setTimer(start, RESTART_DELAY_MS);
  }

  async #close(): Promise<void> {
    // Whoever still holds a session gets its report; threads end when theirs are closed.
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.close()));
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
