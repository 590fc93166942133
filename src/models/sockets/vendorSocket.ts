import type { WebSocket } from 'ws';
import type { Clock } from '../../base/values/clock.ts';
import { ModelError } from '../ports/modelError.ts';
import type { Dial } from './dial.ts';
import { malformed, toModelError, withoutSecret } from './failures.ts';
import { listenTo } from './listen.ts';
import type { WebSocketTarget } from './target.ts';

/** A vendor that reads slower than this is lost. */
const MAX_UNSENT_BYTES = 1024 * 1024;

export interface VendorSocketOptions {
  /** The name in errors. */
  readonly name: string;
  /** The key, which no error contains. */
  readonly secret: string | undefined;
  readonly target: WebSocketTarget;
  readonly dial: Dial;
  readonly clock: Clock;
  readonly onOpen: () => void;
  /** @throws {ModelError} When the message reports a failure; any other error means a malformed message. */
  readonly onMessage: (text: string) => void;
  /** Receives the failure; called at most once. */
  readonly onFailed: (error: ModelError) => void;
}

/** A WebSocket of JSON messages to a vendor. It fails once, and is not made again. */
export class VendorSocket {
  readonly #options: VendorSocketOptions;
  readonly #abort = new AbortController();
  #socket: WebSocket | undefined;
  /** Messages from before the socket was open. */
  #waiting: string[] = [];
  #isClosed = false;

  constructor(options: VendorSocketOptions) {
    this.#options = options;
    options.dial(options.target, this.#abort.signal).then(
      (socket) => this.#onOpened(socket),
      (error: unknown) => this.fail(error),
    );
  }

  /** Sends a message. It never throws. */
  send(message: string): void {
    if (this.#isClosed) return;
    if (!this.#socket) this.#waiting.push(message);
    else if (this.#socket.bufferedAmount <= MAX_UNSENT_BYTES) this.#socket.send(message);
    else this.fail(new ModelError('model_unavailable', `${this.#options.name} does not read its audio`));
  }

  fail(error: unknown): void {
    if (this.#isClosed) return;
    this.close();
    const { name, secret, onFailed } = this.#options;
    onFailed(withoutSecret(toModelError(name, error), secret));
  }

  /** Closes the socket. No event follows. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#abort.abort(new Error('the connection is closed'));
    this.#socket?.close(1000);
  }

  #onOpened(socket: WebSocket): void {
    if (this.#isClosed) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    const { name, clock, onOpen } = this.#options;
    listenTo(socket, {
      name,
      clock,
      onMessage: (data) => this.#onMessage(String(data)),
      onFailed: (error) => this.fail(error),
    });
    for (const message of this.#waiting.splice(0)) socket.send(message);
    onOpen();
  }

  #onMessage(text: string): void {
    if (this.#isClosed) return;
    const { name, onMessage } = this.#options;
    try {
      onMessage(text);
    } catch (error) {
      this.fail(error instanceof ModelError ? error : malformed(name, error));
    }
  }
}
