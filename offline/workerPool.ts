import { parentPort, type Worker } from 'node:worker_threads';

/** Starts a worker thread from a TypeScript module of this library, or from what a build makes of it. */
export type StartThread = (module: URL) => Worker;

export interface WorkerPoolOptions {
  /** A module that calls {@link serveRequests}. */
  readonly module: URL;
  /** Most threads; each starts when it is first needed. */
  readonly size: number;
  readonly startThread: StartThread;
}

type Response<Result> = { readonly result: Result } | { readonly error: string };

interface Job<Request, Result> {
  readonly request: Request;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** Worker threads that serve one request at a time each, in order of arrival. An idle thread keeps no process alive. */
export class WorkerPool<Request, Result> {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Set<Worker>();
  readonly #idle: Worker[] = [];
  readonly #running = new Map<Worker, Job<Request, Result>>();
  readonly #queue: Job<Request, Result>[] = [];
  #isClosed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /**
   * @param signal - Rejects with its reason at once; a request that a thread already serves runs on, unused.
   * @throws {Error} When the request fails, its thread ends, or the pool is closed.
   */
  run(request: Request, signal: AbortSignal): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new Error('the worker pool is closed'));
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const abort = () => {
        const index = this.#queue.indexOf(job);
        if (index >= 0) this.#queue.splice(index, 1);
        reject(signal.reason);
      };
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          signal.removeEventListener('abort', abort);
          settle(value);
        };
      const job = { request, resolve: settled(resolve), reject: settled(reject) };
      signal.addEventListener('abort', abort, { once: true });
      this.#queue.push(job);
      this.#startJobs();
    });
  }

  /** Rejects what is queued or running. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#queue.splice(0)) reject(new Error('the worker pool was closed'));
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
  }

  #startJobs(): void {
    while (this.#queue.length > 0 && (this.#idle.length > 0 || this.#workers.size < this.#options.size)) {
      const worker = this.#idle.pop() ?? this.#startWorker();
      const job = this.#queue.shift();
      if (!job) return;
      this.#running.set(worker, job);
      worker.ref();
      worker.postMessage(job.request);
    }
  }

  #startWorker(): Worker {
    const worker = this.#options.startThread(this.#options.module);
    this.#workers.add(worker);
    worker.on('message', (response: Response<Result>) => this.#finish(worker, response));
    worker.on('error', (error) => this.#remove(worker, error));
    worker.on('exit', (code) => this.#remove(worker, new Error(`the thread ended with code ${code}`)));
    return worker;
  }

  #finish(worker: Worker, response: Response<Result>): void {
    const job = this.#running.get(worker);
    this.#running.delete(worker);
    this.#idle.push(worker);
    worker.unref();
    if ('error' in response) job?.reject(new Error(response.error));
    else job?.resolve(response.result);
    this.#startJobs();
  }

  #remove(worker: Worker, error: Error): void {
    this.#workers.delete(worker);
    const index = this.#idle.indexOf(worker);
    if (index >= 0) this.#idle.splice(index, 1);
    this.#running.get(worker)?.reject(error);
    this.#running.delete(worker);
    if (!this.#isClosed) this.#startJobs();
  }
}

/**
 * The thread's side of a {@link WorkerPool}.
 *
 * @param handle - Returns the result and the buffers to transfer with it.
 * @throws {Error} Outside a worker thread.
 */
export function serveRequests<Request, Result>(
  handle: (request: Request) => Promise<{ result: Result; transfer: readonly ArrayBuffer[] }>,
): void {
  const port = parentPort;
  if (!port) throw new Error('this module runs in a worker thread only');
  port.on('message', async (request: Request) => {
    try {
      const { result, transfer } = await handle(request);
      port.postMessage({ result } satisfies Response<Result>, transfer);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      port.postMessage({ error: message } satisfies Response<Result>);
    }
  });
}
