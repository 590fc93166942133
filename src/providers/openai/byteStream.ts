import type { Dispatcher } from 'undici';

/** So much may wait for its reader; then the sender is made to wait too. */
const MOST_WAITING_BYTES = 262_144;

type Controller = Dispatcher.DispatchController;

/** A response's body as its bytes arrive, without the layers of a web stream, which cost more than a token is worth. */
export interface ByteStream {
  /**
   * One read at a time.
   *
   * @returns The next bytes, whose memory is the reader's; undefined at the end.
   * @throws What broke the response.
   */
  read(): Promise<Uint8Array | undefined>;
  /** Breaks the response off, where it is not over; idempotent. */
  cancel(): void;
}

/** Reads a web stream. */
export function byteStreamOf(response: Response): ByteStream {
  const reader = response.body?.getReader();
  return {
    async read() {
      const piece = await reader?.read();
      return piece?.value;
    },
    cancel() {
      // What the reader was waiting for does not come any more, which is what was asked for.
      reader?.cancel().catch(() => {});
    },
  };
}

/** The end of a {@link ByteStream} that the network writes to. */
export class ByteQueue implements ByteStream {
  readonly #controller: Controller;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #reader: { resolve: (bytes: Uint8Array | undefined) => void; reject: (error: unknown) => void } | undefined;
  #end: { readonly error?: unknown } | undefined;

  constructor(controller: Controller) {
    this.#controller = controller;
  }

  push(bytes: Uint8Array): void {
    const reader = this.#takeReader();
    if (reader) {
      reader.resolve(bytes);
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.#controller.pause();
  }

  finish(): void {
    this.#end ??= {};
    this.#takeReader()?.resolve(undefined);
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#takeReader()?.reject(error);
  }

  read(): Promise<Uint8Array | undefined> {
    const next = this.#waiting.shift();
    if (next) {
      this.#waitingBytes -= next.length;
      if (this.#controller.paused && this.#waitingBytes <= MOST_WAITING_BYTES) this.#controller.resume();
      return Promise.resolve(next);
    }
    if (this.#end) return 'error' in this.#end ? Promise.reject(this.#end.error) : Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  cancel(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (!this.#end) this.#controller.abort(new Error('The reader of the response left'));
  }

  #takeReader() {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
