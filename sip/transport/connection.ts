import type { Socket } from 'node:net';
import type { Clock, Timer } from '../clock.ts';
import { type ByteString, bytesOf } from '../message/bytes.ts';
import { SipParseError } from '../message/errors.ts';
import { type Framed, StreamFramer } from '../message/framer.ts';
import type { Endpoint, Flow } from './types.ts';

export interface ConnectionTimes {
  readonly connectMs: number;
  /** Timeout of an inbound TLS handshake. */
  readonly handshakeMs: number;
  /** Connections without traffic are closed after this time. */
  readonly idleMs: number;
  /** Timeout of the first message, and of each incomplete one. */
  readonly messageMs: number;
  /** Ping interval of idle outbound connections. @see RFC 5626 section 4.4.1 */
  readonly pingMs: number;
}

export const defaultConnectionTimes: ConnectionTimes = {
  connectMs: 4000,
  handshakeMs: 10_000,
  idleMs: 600_000,
  messageMs: 20_000,
  pingMs: 90_000,
};

/** A peer that does not read is disconnected beyond this. */
const MAX_QUEUED_BYTES = 1024 * 1024;
/** Closing at once while the peer still writes would reset the connection and lose the last response. */
const LINGER_MS = 1000;

export interface ConnectionDeps {
  readonly clock: Clock;
  readonly times: ConnectionTimes;
  onFramed(framed: Framed & { kind: 'message' }, flow: Flow): void;
  /** @param text - The malformed bytes. The connection is closed afterwards; a response is still sent. */
  onMalformed(error: SipParseError, text: ByteString, flow: Flow): void;
  onSent(text: ByteString, remote: Endpoint): void;
  onClosed(connection: Connection): void;
}

interface Queued {
  readonly text: ByteString;
  readonly onError: ((error: Error) => void) | undefined;
}

/**
 * A TCP or TLS connection, inbound or outbound. It frames received messages, and queues messages to send until it is
 * open.
 */
export class Connection {
  readonly flow: Flow;
  readonly inbound: boolean;
  readonly #socket: Socket;
  readonly #deps: ConnectionDeps;
  readonly #framer = new StreamFramer();
  #queue: Queued[] = [];
  #ready: boolean;
  #closed = false;
  /** Half-closed: nothing more is read or sent. */
  #ending = false;
  #lastTrafficMs: number;
  #watch: Timer;
  #messageTimer: Timer | undefined;

  constructor(
    socket: Socket,
    ends: { remote: Endpoint; local: Endpoint; inbound: boolean; readyEvent: 'connect' | 'secureConnect' },
    deps: ConnectionDeps,
  ) {
    this.#socket = socket;
    this.#deps = deps;
    this.inbound = ends.inbound;
    this.#ready = ends.inbound;
    this.#lastTrafficMs = deps.clock.monotonicMs();
    this.flow = {
      remote: ends.remote,
      local: ends.local,
      reliable: true,
      send: (text, onError) => this.#send({ text, onError }),
    };
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', (error) => this.close(error));
    socket.on('close', () => this.close(new Error('the connection was closed')));
    if (!ends.inbound) socket.once(ends.readyEvent, () => this.#flush());
    const first = ends.inbound ? deps.times.messageMs : deps.times.connectMs;
    this.#watch = deps.clock.setTimer(() => this.#firstCheck(), first);
  }

  /** Idempotent; fails the queued messages. */
  close(error: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watch.cancel();
    this.#messageTimer?.cancel();
    this.#socket.destroy();
    this.#deps.onClosed(this);
    const queue = this.#queue;
    this.#queue = [];
    for (const { onError } of queue) onError?.(error);
  }

  /** Closes the connection after the last message is sent; received bytes are dropped. */
  #end(error: Error): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    this.#messageTimer?.cancel();
    this.#watch.cancel();
    this.#watch = this.#deps.clock.setTimer(() => this.close(error), LINGER_MS);
    this.#socket.end();
  }

  #send(item: Queued): void {
    if (this.#closed || this.#ending) {
      process.nextTick(() => item.onError?.(new Error('the connection is closed')));
      return;
    }
    if (!this.#ready) {
      this.#queue.push(item);
      return;
    }
    if (this.#socket.writableLength > MAX_QUEUED_BYTES) {
      process.nextTick(() => item.onError?.(new Error('send queue full')));
      this.close(new Error('send queue full'));
      return;
    }
    this.#lastTrafficMs = this.#deps.clock.monotonicMs();
    this.#deps.onSent(item.text, this.flow.remote);
    this.#socket.write(bytesOf(item.text), (error) => {
      if (error) item.onError?.(error);
    });
  }

  #flush(): void {
    this.#ready = true;
    const queue = this.#queue;
    this.#queue = [];
    for (const item of queue) this.#send(item);
  }

  #receive(bytes: Buffer): void {
    if (this.#ending) return;
    this.#lastTrafficMs = this.#deps.clock.monotonicMs();
    let framed: Framed[];
    try {
      framed = this.#framer.feed(bytes);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      this.#deps.onMalformed(error, this.#framer.unread, this.flow);
      this.#end(error);
      return;
    }
    for (const one of framed) {
      if (one.kind === 'ping') this.#socket.write('\r\n');
      else if (one.kind === 'message') this.#deps.onFramed(one, this.flow);
    }
    this.#watchMessage(framed.length > 0);
  }

  /** Bounds the time of an incomplete message. */
  #watchMessage(progressed: boolean): void {
    if (progressed) {
      this.#messageTimer?.cancel();
      this.#messageTimer = undefined;
    }
    if (!this.#framer.isMidMessage || this.#messageTimer || this.#closed) return;
    this.#messageTimer = this.#deps.clock.setTimer(
      () => this.close(new Error('incomplete message')),
      this.#deps.times.messageMs,
    );
  }

  #firstCheck(): void {
    if (!this.#ready) this.close(new Error('connect timeout'));
    else if (this.inbound && this.#socket.bytesRead === 0) this.close(new Error('no data received'));
    else this.#scheduleCheck();
  }

  #scheduleCheck(): void {
    const { clock, times } = this.#deps;
    this.#watch = clock.setTimer(
      () => {
        const quietMs = clock.monotonicMs() - this.#lastTrafficMs;
        if (quietMs >= times.idleMs) {
          this.close(new Error('the connection was idle'));
          return;
        }
        if (!this.inbound && quietMs >= times.pingMs) this.#socket.write('\r\n\r\n');
        this.#scheduleCheck();
      },
      Math.min(times.pingMs, times.idleMs),
    );
  }
}
