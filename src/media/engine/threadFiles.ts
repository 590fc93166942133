import type { OpenRecordingFile, RecordingFile } from '../recording/recordingFile.ts';
import {
  type FileRequest,
  type FileResult,
  fromFailure,
  type ThreadFailure,
  toFailure,
} from './threadMessages.ts';

type FileOperation = FileRequest extends infer Request
  ? Request extends FileRequest
    ? Omit<Request, 'kind' | 'requestId' | 'file'>
    : never
  : never;

/**
 * The media thread's end of its files. A thread that writes files itself queues work for the threads of Node's pool, and to
 * signal them may take until those that were signalled before have run: on a busy machine tens of milliseconds, since they
 * have no priority. A message to the main thread does not wait.
 */
export class ThreadFiles {
  readonly #post: (request: FileRequest) => void;
  readonly #pending = new Map<number, (failure: ThreadFailure | undefined) => void>();
  #requests = 0;
  #files = 0;

  constructor(post: (request: FileRequest) => void) {
    this.#post = post;
  }

  /** As `openRecordingFile`. */
  readonly open: OpenRecordingFile = async (path) => {
    const file = ++this.#files;
    await this.#request(file, { operation: 'open', path });
    return {
      write: (bytes, position) => this.#request(file, { operation: 'write', bytes, position }),
      close: () => this.#request(file, { operation: 'close' }),
    };
  };

  receive({ requestId, failure }: FileResult): void {
    this.#pending.get(requestId)?.(failure);
    this.#pending.delete(requestId);
  }

  #request(file: number, operation: FileOperation): Promise<void> {
    const requestId = ++this.#requests;
    return new Promise((resolve, reject) => {
      this.#pending.set(requestId, (failure) => (failure ? reject(fromFailure(failure)) : resolve()));
      this.#post({ kind: 'file', requestId, file, ...operation });
    });
  }
}

/** The main thread's end of one media thread's files. */
export class ServedFiles {
  readonly #open: OpenRecordingFile;
  readonly #answer: (result: FileResult) => void;
  readonly #files = new Map<number, RecordingFile>();
  #isClosed = false;

  constructor(open: OpenRecordingFile, answer: (result: FileResult) => void) {
    this.#open = open;
    this.#answer = answer;
  }

  /** Answers when it is done. Never rejects. */
  async serve(request: FileRequest): Promise<void> {
    const { requestId } = request;
    try {
      await this.#perform(request);
      this.#answer({ kind: 'fileResult', requestId });
    } catch (error) {
      this.#answer({ kind: 'fileResult', requestId, failure: toFailure(error) });
    }
  }

  /** Closes the files of a thread that is gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const files = [...this.#files.values()];
    this.#files.clear();
    await Promise.allSettled(files.map((file) => file.close()));
  }

  async #perform(request: FileRequest): Promise<void> {
    if (request.operation === 'open') {
      const opened = await this.#open(request.path);
      if (this.#isClosed) await opened.close();
      else this.#files.set(request.file, opened);
      return;
    }
    const file = this.#files.get(request.file);
    if (request.operation === 'write') return await file?.write(request.bytes, request.position);
    this.#files.delete(request.file);
    await file?.close();
  }
}
