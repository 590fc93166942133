import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

import { encodeInt32, encodeMessage, encodeString, MessageReader } from './messages.ts';
import type { SharedSession } from './sharedSession.ts';

/** The longest message before the password is verified. */
const MAX_STARTUP_BYTES = 10_000;
/** The longest message that a Postgres server accepts. */
const MAX_MESSAGE_BYTES = 2 ** 30;
/** Version 3.0 of the protocol, in the startup message. */
const PROTOCOL_VERSION = 3 << 16;
const VERSION_OFFSET = 4;

const CLEARTEXT_PASSWORD = encodeMessage('R', encodeInt32(3));
const AUTHENTICATION_OK = encodeMessage('R', encodeInt32(0));
const CLIENT_ENCODING = encodeMessage('S', encodeString('client_encoding'), encodeString('UTF8'));
const READY_FOR_QUERY = encodeMessage('Z', Buffer.from('I'));

export interface ConnectionDeps {
  readonly session: SharedSession<Connection>;
  readonly password: string;
  /** Called when the database failed in a request of this connection. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The server's side of a connection of the Postgres protocol. It reads requests; the session answers them.
 *
 * ```
 *   startup ── startup message ──▶ password ── the right one ──▶ ready ── Terminate, or the socket's end ──▶ closed
 * ```
 *
 * @see PostgreSQL documentation, "Frontend/Backend Protocol", section "Message Flow"
 */
export class Connection {
  readonly #socket: Socket;
  readonly #deps: ConnectionDeps;
  readonly #received = new MessageReader();
  #state: 'startup' | 'password' | 'ready' = 'startup';
  /** Messages of an extended query until its `Sync`. */
  #request: Buffer[] = [];
  #answered: Promise<void> = Promise.resolve();

  constructor(socket: Socket, deps: ConnectionDeps) {
    this.#socket = socket;
    this.#deps = deps;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', () => {
      // `close` follows.
    });
    socket.once('close', () => void deps.session.leave(this).catch(deps.onFailure));
  }

  #receive(bytes: Buffer): void {
    this.#received.push(bytes);
    try {
      for (let message = this.#next(); message && !this.#socket.destroyed; message = this.#next()) {
        this.#handle(message);
      }
    } catch {
      // No Postgres client sends such a length.
      this.#socket.destroy();
    }
  }

  #next(): Buffer | undefined {
    if (this.#state === 'startup') return this.#received.next(0, MAX_STARTUP_BYTES);
    return this.#received.next(1, this.#state === 'ready' ? MAX_MESSAGE_BYTES : MAX_STARTUP_BYTES);
  }

  #handle(message: Buffer): void {
    switch (this.#state) {
      case 'startup':
        if (message.readInt32BE(VERSION_OFFSET) !== PROTOCOL_VERSION) {
          this.#socket.destroy();
          return;
        }
        this.#state = 'password';
        this.#socket.write(CLEARTEXT_PASSWORD);
        return;
      case 'password':
        if (!isEqual(message, encodeMessage('p', encodeString(this.#deps.password)))) {
          this.#socket.destroy();
          return;
        }
        this.#state = 'ready';
        this.#socket.write(Buffer.concat([AUTHENTICATION_OK, CLIENT_ENCODING, READY_FOR_QUERY]));
        return;
      case 'ready':
        this.#handleRequest(message);
    }
  }

  #handleRequest(message: Buffer): void {
    const type = message.toString('latin1', 0, 1);
    if (type === 'X') {
      this.#socket.end();
      return;
    }
    this.#request.push(message);
    if (type !== 'Q' && type !== 'S') return;
    const request = Buffer.concat(this.#request);
    this.#request = [];
    this.#answered = this.#answered.then(() => this.#answer(request)).catch(this.#deps.onFailure);
  }

  async #answer(request: Buffer): Promise<void> {
    const answer = await this.#deps.session.run(this, request);
    if (this.#socket.writable) this.#socket.write(answer);
  }
}

function isEqual(given: Buffer, right: Buffer): boolean {
  return given.length === right.length && timingSafeEqual(given, right);
}
