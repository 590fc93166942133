import type { RecognizerProcess } from './recognizerProcess.ts';

/** Utterances that wait, per process: with the general model the last of them would wait a minute. */
const MAX_WAITING_PER_PROCESS = 16;
/** The longest wait. After it a caller has repeated themselves. */
const MAX_WAIT_MS = 10_000;

export class RecognizerBusyError extends Error {
  constructor() {
    super('too many callers speak at once for the recognizer processes of this machine');
    this.name = 'RecognizerBusyError';
  }
}

export interface RecognizerPoolOptions {
  /** The most processes at once. */
  readonly size: number;
  readonly startProcess: (args: readonly string[]) => RecognizerProcess;
}

interface Waiting {
  readonly args: readonly string[];
  readonly resolve: (process: RecognizerProcess) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Recognizer processes, at most as many as the machine has cores.
 *
 * An utterance that has ended has precedence: it takes a free process, or that of an utterance that is still being
 * spoken, or waits for one. Those that wait go in order of arrival; since a call has one utterance at a time, calls take
 * turns, and one that speaks without end holds up none.
 */
export class RecognizerPool {
  readonly #options: RecognizerPoolOptions;
  /**
   * The running processes in the order of their start. The value of an early process is a callback that tells its owner
   * that the pool takes it away.
   */
  readonly #running = new Map<RecognizerProcess, (() => void) | undefined>();
  readonly #waiting: Waiting[] = [];
  #isClosed = false;

  constructor(options: RecognizerPoolOptions) {
    this.#options = options;
  }

  /**
   * Starts a process for an utterance that is still being spoken.
   *
   * @param onRevoked - The process is killed, since an utterance that has ended needs it.
   * @returns Undefined while all processes are in use.
   */
  startEarly(args: readonly string[], onRevoked: () => void): RecognizerProcess | undefined {
    if (this.#isClosed || this.#running.size >= this.#options.size) return undefined;
    return this.#start(args, onRevoked);
  }

  /** The utterance of an early process has ended: it is not taken away any more. */
  keep(process: RecognizerProcess): void {
    if (this.#running.has(process)) this.#running.set(process, undefined);
  }

  /**
   * Starts a process for an utterance that has ended.
   *
   * @throws {RecognizerBusyError} When too many others wait, or after a long wait.
   * @throws {Error} The signal's reason when it is aborted; when the pool is closed.
   */
  async start(args: readonly string[], signal: AbortSignal): Promise<RecognizerProcess> {
    signal.throwIfAborted();
    if (this.#isClosed) throw new Error('the recognizer is closed');
    if (this.#running.size < this.#options.size) return this.#start(args, undefined);
    if (this.#waiting.length >= this.#options.size * MAX_WAITING_PER_PROCESS) throw new RecognizerBusyError();
    const process = this.#queue(args, signal);
    this.#revokeNewest();
    return await process;
  }

  /** Kills all processes. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('the recognizer was closed'));
    for (const process of this.#running.keys()) process.kill();
  }

  #queue(args: readonly string[], signal: AbortSignal): Promise<RecognizerProcess> {
    return new Promise((resolve, reject) => {
      const leave = (error: unknown) => {
        const index = this.#waiting.indexOf(waiting);
        if (index >= 0) this.#waiting.splice(index, 1);
        waiting.reject(error instanceof Error ? error : new Error(String(error)));
      };
      const abort = () => leave(signal.reason);
      const timer = setTimeout(() => leave(new RecognizerBusyError()), MAX_WAIT_MS);
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          settle(value);
        };
      const waiting: Waiting = { args, resolve: settled(resolve), reject: settled(reject) };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
    });
  }

  /** The newest has the least work to repeat. */
  #revokeNewest(): void {
    const [newest] = [...this.#running].filter(([, onRevoked]) => onRevoked).slice(-1);
    if (!newest) return;
    const [process, onRevoked] = newest;
    this.#running.set(process, undefined);
    onRevoked?.();
    process.kill();
  }

  #start(args: readonly string[], onRevoked: (() => void) | undefined): RecognizerProcess {
    const process = this.#options.startProcess(args);
    this.#running.set(process, onRevoked);
    void process.ended.then(() => this.#onEnded(process));
    return process;
  }

  #onEnded(process: RecognizerProcess): void {
    this.#running.delete(process);
    const next = this.#isClosed ? undefined : this.#waiting.shift();
    next?.resolve(this.#start(next.args, undefined));
  }
}
