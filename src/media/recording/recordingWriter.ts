import type { Worker } from 'node:worker_threads';
import { type Port, type Remote, remoteOf, serve } from '../../base/threads/remote.ts';
import { type OpenRecordingFile, openRecordingFile, type RecordingFile } from './recordingFile.ts';

/** What the writer thread does. A file's requests come one after the other; files do not wait for each other. */
interface WriterMethods {
  /** @returns The number that names the file. */
  open(path: string): Promise<number>;
  write(file: number, bytes: Uint8Array, position: number): Promise<void>;
  close(file: number): Promise<void>;
}

/**
 * A media thread's side of the thread that writes its recordings. By itself a media thread would hand each write to the
 * thread pool of the process, and so wait, by the pool's condition variable, for a thread that has no priority: on a busy
 * machine for 10 to 300 ms, in which no call has sound.
 */
export class RecordingWriter {
  readonly #startThread: () => Worker;
  #thread: Remote<WriterMethods> | undefined;

  /** @param startThread - Starts a thread that runs `serveRecordings`. Called at once, and after a thread's death. */
  constructor(startThread: () => Worker) {
    this.#startThread = startThread;
    this.#thread = this.#start();
  }

  /** @throws {Error} The error has the system's `code`. */
  readonly open: OpenRecordingFile = async (path) => {
    this.#thread ??= this.#start();
    const { call } = this.#thread;
    const file = await call.open(path);
    return {
      write: (bytes, position) => call.write(file, bytes, position),
      close: () => call.close(file),
    };
  };

  #start(): Remote<WriterMethods> {
    const thread = this.#startThread();
    const remote = remoteOf<WriterMethods>(thread);
    // Without a listener it would end the media thread; `exit` follows.
    thread.on('error', () => undefined);
    thread.on('exit', () => {
      this.#thread = undefined;
      remote.close(new Error('the thread that writes recordings has died'));
    });
    // Last, since a listener of messages refs the thread again, and the media thread would never end by itself.
    thread.unref();
    return remote;
  }
}

/** Serves a {@link RecordingWriter}. */
export function serveRecordings(port: Port, open: OpenRecordingFile = openRecordingFile): void {
  const files = new Map<number, RecordingFile>();
  let lastFile = 0;
  const methods: WriterMethods = {
    async open(path) {
      const file = await open(path);
      files.set(++lastFile, file);
      return lastFile;
    },
    async write(file, bytes, position) {
      await files.get(file)?.write(bytes, position);
    },
    async close(file) {
      const closing = files.get(file);
      files.delete(file);
      await closing?.close();
    },
  };
  serve(port, methods);
}
