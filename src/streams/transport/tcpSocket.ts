import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

import { messageLength } from '../../dialects/audiosocket.ts';
import type { StreamMessage } from '../../dialects/dialect.ts';
import { CLOSE_ABNORMAL, CLOSE_NORMAL, CLOSED, CLOSING, OPEN, type StreamSocket } from './streamSocket.ts';

const EMPTY = Buffer.alloc(0);
/** With the heartbeat's own patience, a peer that has gone is dropped within 90 s. */
const MAX_SILENCE_MS = 60_000;
/** For the peer to close its half. */
const CLOSE_TIMEOUT_MS = 2000;

/**
 * A TCP connection as a {@link StreamSocket}: its bytes are cut into the messages of AudioSocket. TCP has no ping: a peer
 * is taken to be there for a minute after its last byte.
 */
export class TcpSocket extends EventEmitter implements StreamSocket {
  readonly #socket: Socket;
  readonly #monotonicMs: () => number;
  #pending: Buffer;
  /** Messages of this turn of the event loop. */
  readonly #unsent: Uint8Array[] = [];
  #receivedAtMs: number;
  #closeCode: number = CLOSE_NORMAL;
  readyState = OPEN;

  /** @param head - What was read of the connection already. */
  constructor(socket: Socket, head: Buffer, monotonicMs: () => number) {
    super();
    this.#socket = socket;
    this.#pending = head;
    this.#monotonicMs = monotonicMs;
    this.#receivedAtMs = monotonicMs();
    socket.setNoDelay(true);
    // After the listeners of this turn.
    setImmediate(() => this.#cut());
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => socket.end());
    socket.on('error', (error) => {
      this.#closeCode = CLOSE_ABNORMAL;
      if (this.listenerCount('error') > 0) this.emit('error', error);
    });
    socket.on('close', () => {
      this.readyState = CLOSED;
      this.emit('close', this.#closeCode, EMPTY);
    });
  }

  get bufferedAmount(): number {
    return this.#socket.writableLength;
  }

  /** What is sent in one turn of the event loop is written at once. */
  send(data: StreamMessage): void {
    if (this.#unsent.length === 0) process.nextTick(() => this.#flush());
    this.#unsent.push(typeof data === 'string' ? Buffer.from(data) : data);
  }

  /** @param code - Why, for our own listeners: TCP does not tell the peer. */
  close(code: number = CLOSE_NORMAL): void {
    if (this.readyState !== OPEN) return;
    this.#closeCode = code;
    this.#flush();
    this.readyState = CLOSING;
    this.#socket.end();
    this.#socket.setTimeout(CLOSE_TIMEOUT_MS, () => this.#socket.destroy());
  }

  terminate(): void {
    this.#closeCode = CLOSE_ABNORMAL;
    this.#socket.destroy();
  }

  ping(): void {
    if (this.#monotonicMs() - this.#receivedAtMs < MAX_SILENCE_MS) this.emit('pong', EMPTY);
  }

  #flush(): void {
    const [first] = this.#unsent;
    if (first === undefined) return;
    this.#socket.write(this.#unsent.length === 1 ? first : Buffer.concat(this.#unsent));
    this.#unsent.length = 0;
  }

  #receive(chunk: Buffer): void {
    this.#receivedAtMs = this.#monotonicMs();
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    this.#cut();
  }

  #cut(): void {
    for (;;) {
      const length = messageLength(this.#pending);
      if (length === undefined || this.#pending.length < length) return;
      const isWhole = this.#pending.length === length;
      const message = isWhole ? this.#pending : this.#pending.subarray(0, length);
      this.#pending = isWhole ? EMPTY : this.#pending.subarray(length);
      this.emit('message', message, true);
    }
  }
}
