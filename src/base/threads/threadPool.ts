import type { Worker } from 'node:worker_threads';
import { type Calls, type Remote, remoteOf } from './remote.ts';
import type { ThreadMessage } from './watchedThread.ts';

export interface ThreadPoolOptions {
  /** Most threads. Each starts when no other is free; one that dies is replaced when the next job needs it. */
  readonly size: number;
  /** Starts a thread that serves the pool's methods by `serveThread`. */
  readonly startThread: () => Worker;
  /** Ends the thread of a job that is aborted. Default: the thread finishes what it does, unused. */
  readonly terminatesAborted?: boolean;
}

interface PooledThread<Methods> {
  readonly worker: Worker;
  readonly remote: Remote<Methods>;
  isReady: boolean;
}

interface Waiting<Methods> {
  resolve(thread: PooledThread<Methods>): void;
  reject(error: unknown): void;
}

/** Worker threads that do one job at a time each, in order of arrival. An idle thread keeps no process alive. */
export class ThreadPool<Methods> {
  readonly #options: ThreadPoolOptions;
  readonly #threads = new Set<PooledThread<Methods>>();
  readonly #idle: PooledThread<Methods>[] = [];
  readonly #waiting: Waiting<Methods>[] = [];
  #closedBy: Error | undefined;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /**
   * Has a thread to itself for a job.
   *
   * @param job - Calls the thread's methods.
   * @throws What the job throws, the reason of an abort, or an error when the thread cannot start, died, or the pool was
   *   closed.
   */
  run<Result>(job: (thread: Calls<Methods>) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      let running: PooledThread<Methods> | undefined;
      const waiting: Waiting<Methods> = {
        resolve: (thread) => {
          running = thread;
          thread.worker.ref();
          const done = () => {
            signal.removeEventListener('abort', abort);
            this.#release(thread);
          };
          job(thread.remote.call).finally(done).then(resolve, reject);
        },
        reject,
      };
      const abort = () => {
        const index = this.#waiting.indexOf(waiting);
        if (index >= 0) this.#waiting.splice(index, 1);
        reject(signal.reason);
        if (running && this.#options.terminatesAborted) this.#end(running, signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
      this.#next();
    });
  }

  /** Rejects all jobs and ends the threads. Idempotent. */
  async close(error = new Error('the thread pool was closed')): Promise<void> {
    this.#closedBy ??= error;
    this.#next();
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, error)));
  }

  #next(): void {
    if (this.#closedBy) {
      this.#refuse(this.#closedBy);
      return;
    }
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop();
      if (!thread) break;
      this.#waiting.shift()?.resolve(thread);
    }
    const starting = [...this.#threads].filter(({ isReady }) => !isReady).length;
    if (this.#waiting.length > starting && this.#threads.size < this.#options.size) this.#start();
  }

  #refuse(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #start(): void {
    const worker = this.#options.startThread();
    const thread: PooledThread<Methods> = { worker, remote: remoteOf(worker), isReady: false };
    this.#threads.add(thread);
    worker.on('message', ({ kind }: Partial<ThreadMessage>) => {
      if (kind !== 'ready') return;
      thread.isReady = true;
      this.#release(thread);
    });
    const onGone = (error: Error) => {
      // One that cannot start is not started again and again.
      if (!thread.isReady && this.#threads.has(thread)) this.#refuse(error);
      void this.#end(thread, error);
    };
    worker.on('error', onGone);
    worker.on('exit', (code) => onGone(new Error(`the thread ended with code ${code}`)));
  }

  #release(thread: PooledThread<Methods>): void {
    if (!this.#threads.has(thread)) return;
    thread.worker.unref();
    this.#idle.push(thread);
    this.#next();
  }

  async #end(thread: PooledThread<Methods>, error: Error): Promise<void> {
    if (!this.#threads.delete(thread)) return;
    const index = this.#idle.indexOf(thread);
    if (index >= 0) this.#idle.splice(index, 1);
    thread.remote.close(error);
    this.#next();
    await thread.worker.terminate();
  }
}
