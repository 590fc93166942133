import type { MessagePort, Worker } from 'node:worker_threads';
import { type OpenRecordingFile, openRecordingFile, type RecordingFile } from './recordingFile.ts';

/** A request to the writer thread. `file` is the number that the media thread has assigned to the file. */
export type WriterRequest = { readonly id: number; readonly file: number } & (
  | { readonly kind: 'open'; readonly path: string }
  | { readonly kind: 'write'; readonly bytes: Uint8Array; readonly position: number }
  | { readonly kind: 'close' }
);

/** A reply to the media thread, sent when a request is done. */
interface WriterReply {
  readonly id: number;
  readonly error?: { readonly message: string; readonly code?: unknown };
}

interface PendingRequest {
  resolve(): void;
  reject(error: Error): void;
}

type WithoutId<Request> = Request extends unknown ? Omit<Request, 'id'> : never;

/**
 * A media thread's side of the thread that writes its recordings. By itself a media thread would hand each write to the
 * thread pool of the process, and so wait, by the pool's condition variable, for a thread that has no priority: on a busy
 * machine for 10 to 300 ms, in which no call has sound.
 */
export class RecordingWriter {
  readonly #startThread: () => Worker;
  readonly #pending = new Map<number, PendingRequest>();
  #thread: Worker | undefined;
  #lastId = 0;
  #lastFile = 0;

  /** @param startThread - Starts a thread that runs `serveRecordings`. Called at once, and after a thread's death. */
  constructor(startThread: () => Worker) {
    this.#startThread = startThread;
    this.#thread = this.#start();
  }

  /** @throws {Error} The error has the system's `code`. */
  readonly open: OpenRecordingFile = async (path) => {
    const file = ++this.#lastFile;
    this.#thread ??= this.#start();
    const thread = this.#thread;
    const ask = (request: WithoutId<WriterRequest>) => this.#ask(thread, request);
    await ask({ kind: 'open', file, path });
    return {
      write: (bytes, position) => ask({ kind: 'write', file, bytes, position }),
      close: () => ask({ kind: 'close', file }),
    };
  };

  #ask(thread: Worker, request: WithoutId<WriterRequest>): Promise<void> {
    return new Promise((resolve, reject) => {
      if (thread !== this.#thread) return reject(writerLost());
      const id = ++this.#lastId;
      this.#pending.set(id, { resolve, reject });
      thread.postMessage({ ...request, id } satisfies WriterRequest);
    });
  }

  #start(): Worker {
    const thread = this.#startThread();
    thread.on('message', ({ id, error }: WriterReply) => {
      const request = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) request?.resolve();
      else request?.reject(Object.assign(new Error(error.message), { code: error.code }));
    });
    // Without a listener it would end the media thread; `exit` follows.
    thread.on('error', () => undefined);
    thread.on('exit', () => {
      this.#thread = undefined;
      for (const { reject } of this.#pending.values()) reject(writerLost());
      this.#pending.clear();
    });
    // Last, since a listener of messages refs the thread again, and the media thread would never end by itself.
    thread.unref();
    return thread;
  }
}

/** Serves a {@link RecordingWriter}. A file's requests come one after the other; files do not wait for each other. */
export function serveRecordings(port: MessagePort, open: OpenRecordingFile = openRecordingFile): void {
  const files = new Map<number, RecordingFile>();
  const perform = async (request: WriterRequest): Promise<void> => {
    if (request.kind === 'open') {
      files.set(request.file, await open(request.path));
      return;
    }
    const file = files.get(request.file);
    if (request.kind === 'write') return await file?.write(request.bytes, request.position);
    files.delete(request.file);
    await file?.close();
  };
  port.on('message', async (request: WriterRequest) => {
    const error = await perform(request).then(() => undefined, describeError);
    port.postMessage({ id: request.id, ...(error && { error }) } satisfies WriterReply);
  });
}

function describeError(error: unknown): WriterReply['error'] {
  if (!(error instanceof Error)) return { message: String(error) };
  return { message: error.message, ...('code' in error && { code: error.code }) };
}

function writerLost(): Error {
  return new Error('the thread that writes recordings has died');
}
