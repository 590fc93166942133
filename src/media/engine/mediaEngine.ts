import type { Worker } from 'node:worker_threads';
import { CallwayError } from '../../base/errors.ts';
import { WatchedThread } from '../../base/threads/watchedThread.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MediaEngine, MediaSession, OpenMedia } from '../mediaSession.ts';
import { PortPool } from './portPool.ts';
import { createRemoteSession, isRemoteSession, type RemoteSession } from './remoteSession.ts';
import type {
  MediaThreadData,
  MediaThreadEvents,
  MediaThreadMethods,
  ThreadStatistics,
} from './threadMessages.ts';

export interface MediaEngineOptions {
  readonly clock: Clock;
  /** Starts a thread that runs a `ThreadServer`. */
  readonly startThread: (data: MediaThreadData) => Worker;
  readonly threads: number;
  /** The first and the last UDP port. */
  readonly ports: { readonly min: number; readonly max: number };
  /** A local address to listen on. */
  readonly address: string;
  /** The address for SDP. */
  readonly publicAddress: string;
  readonly onFault: (fault: MediaFault) => void;
}

/** A thread that died with its calls, a tick that threw, or a listener that threw; for the log. */
export type MediaFault =
  | { readonly kind: 'thread_lost'; readonly reason: string; readonly sessions: number }
  | { readonly kind: 'session_fault' | 'listener_fault'; readonly reason: string };

export interface ThreadedMediaEngine extends MediaEngine {
  /** Returns the statistics of the threads that answer, for metrics. */
  statistics(): Promise<ThreadStatistics[]>;
}

interface MediaThread {
  readonly worker: WatchedThread<MediaThreadMethods>;
  /** The numbers of its sessions. */
  readonly sessions: Set<number>;
}

/** A thread that dies sooner than this is restarted no sooner. */
const RESTART_DELAY_MS = 1_000;

/**
 * Starts the media threads. Resolves when all of them take calls.
 *
 * @throws {CallwayError} `media_lost` when a thread cannot be started.
 */
export async function startMediaEngine(options: MediaEngineOptions): Promise<ThreadedMediaEngine> {
  const engine = new WorkerMediaEngine(options);
  try {
    await engine.untilReady();
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}

class WorkerMediaEngine implements ThreadedMediaEngine {
  readonly #options: MediaEngineOptions;
  readonly #ports: PortPool;
  readonly #threads = new Set<MediaThread>();
  readonly #sessions = new Map<number, RemoteSession>();
  #nextSession = 1;
  #closed: Promise<void> | undefined;

  constructor(options: MediaEngineOptions) {
    this.#options = options;
    this.#ports = new PortPool(options.ports);
    for (let n = 0; n < options.threads; n++) this.#startThread();
  }

  async untilReady(): Promise<void> {
    await Promise.all([...this.#threads].map(({ worker }) => worker.untilReady()));
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  async open({ sameThreadAs, ...options }: OpenMedia): Promise<MediaSession> {
    const thread = this.#threadOf(sameThreadAs) ?? this.#leastBusyThread();
    const session = this.#nextSession++;
    thread.sessions.add(session);
    try {
      return await this.#openOn(thread, session, options);
    } catch (error) {
      thread.sessions.delete(session);
      throw error;
    }
  }

  async statistics(): Promise<ThreadStatistics[]> {
    const alive = [...this.#threads].filter(({ worker }) => worker.isAlive);
    const results = await Promise.allSettled(alive.map(({ worker }) => worker.call.statistics()));
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Tries each port once, since other programs may use some. */
  async #openOn(
    thread: MediaThread,
    session: number,
    { timeoutMs, latching, impairment }: Omit<OpenMedia, 'sameThreadAs'>,
  ): Promise<MediaSession> {
    for (let tried = 0; tried < this.#ports.size; tried++) {
      const rtpPort = this.#ports.take();
      if (rtpPort === undefined) break;
      try {
        await thread.worker.call.open(session, { rtpPort, timeoutMs, latching, impairment });
        return this.#register(thread, session, rtpPort);
      } catch (error) {
        this.#ports.free(rtpPort);
        const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
        if (!isTaken) throw error;
      }
    }
    throw new CallwayError('unavailable', 'media_ports_exhausted', 'all ports for audio are in use', {
      retryAfterSeconds: 1,
    });
  }

  #register(thread: MediaThread, session: number, rtpPort: number): RemoteSession {
    const remote = createRemoteSession({
      session,
      address: this.#options.publicAddress,
      rtpPort,
      command: (name, args) => thread.worker.call.command(session, name, args),
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

  /** @returns Undefined for a session of another engine or of a thread that has exited. */
  #threadOf(call: MediaSession | undefined): MediaThread | undefined {
    if (!isRemoteSession(call)) return undefined;
    return [...this.#threads].find(({ worker, sessions }) => worker.isAlive && sessions.has(call.session));
  }

  #leastBusyThread(): MediaThread {
    let leastBusy: MediaThread | undefined;
    for (const thread of this.#threads) {
      if (!thread.worker.isAlive) continue;
      if (leastBusy === undefined || thread.sessions.size < leastBusy.sessions.size) leastBusy = thread;
    }
    if (leastBusy !== undefined && this.#closed === undefined) return leastBusy;
    throw new CallwayError('unavailable', 'media_unavailable', 'no media thread is running', {
      retryAfterSeconds: 5,
    });
  }

  #startThread(): void {
    const { clock, startThread, address, onFault } = this.#options;
    const startedMs = clock.monotonicMs();
    const sessions = new Set<number>();
    const events: MediaThreadEvents = {
      event: (session, name, value) => this.#sessions.get(session)?.emit(name, value),
      fault: (session, reason) => {
        onFault({ kind: 'session_fault', reason });
        this.#sessions.get(session)?.lose('the audio of the call failed');
      },
    };
    const worker = new WatchedThread<MediaThreadMethods>({
      name: 'media thread',
      clock,
      worker: startThread({ address }),
      events,
      toError: (reason) =>
        new CallwayError('unavailable', 'media_lost', `the call’s audio is lost: ${reason}`),
      onLost: (reason) => {
        this.#threads.delete(thread);
        onFault({ kind: 'thread_lost', reason, sessions: sessions.size });
        for (const session of sessions) this.#sessions.get(session)?.lose(reason);
        this.#restart(clock.monotonicMs() - startedMs);
      },
    });
    const thread: MediaThread = { worker, sessions };
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
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.close()));
    await Promise.all([...this.#threads].map(({ worker }) => worker.end()));
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
