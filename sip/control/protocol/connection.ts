import { createHash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { type ByteString, bytesOf } from '../../message/bytes.ts';
import type { Counters } from '../../stats.ts';
import type { Application, ApplicationConnection, Applications } from './applications.ts';
import { ControlProtocolError, FrameReader, formatFrame, splitFrame } from './framing.ts';
import { formatNo, formatOk } from './messages.ts';

/** The SIP commands of an authenticated application. */
export interface CommandHandlers {
  sip(application: Application, command: Command): void;
  proxy(application: Application, command: Command): void;
}

export interface Command {
  readonly id: string;
  /** The fields of the meta line, including id and type. */
  readonly fields: readonly string[];
  /** The SIP message, with only the headers that the application sets. */
  readonly sip: ByteString;
  /** Sends a frame on the connection of the command. */
  reply(payload: ByteString): void;
  /** Refuses the command and closes the connection. */
  close(why: string): void;
}

export interface ConnectionDeps {
  readonly applications: Applications;
  readonly counters: Counters;
  readonly commands: CommandHandlers;
  /** Called before each command. */
  readonly onCommand?: (() => void) | undefined;
  readonly secret: string;
  readonly newId: () => string;
  readonly hostports: () => string;
  /** Unauthenticated connections are closed after this time. */
  readonly authenticateMs: number;
  readonly startTimer: (callback: () => void, delayMs: number) => { cancel(): void };
}

/** drachtio-srf sends pings from version 0.8.2 on. */
const PROTOCOL_VERSION = 'v0.9.9';
/** An application that does not read is disconnected before it exhausts the memory. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/** Detects a crashed peer within minutes. */
const KEEP_ALIVE_MS = 45_000;
/** The most routes, far more than there are methods. */
const MAX_ROUTES = 200;

/** Serves the control connection of one application until it closes. */
export function serveApplication(socket: Socket, deps: ConnectionDeps): void {
  new ControlSession(socket, deps).start();
}

class ControlSession {
  readonly #socket: Socket;
  readonly #deps: ConnectionDeps;
  readonly #reader = new FrameReader();
  readonly #routes = new Set<string>();
  readonly #authenticateTimeout: { cancel(): void };
  #application: Application | undefined;
  #connection: ApplicationConnection | undefined;
  #unsent = '';

  constructor(socket: Socket, deps: ConnectionDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#authenticateTimeout = deps.startTimer(() => socket.destroy(), deps.authenticateMs);
  }

  start(): void {
    const { applications, counters } = this.#deps;
    this.#socket.setNoDelay(true);
    this.#socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    // 'close' follows.
    this.#socket.on('error', () => counters.count('apps.failed'));
    this.#socket.on('close', () => {
      this.#authenticateTimeout.cancel();
      if (this.#connection) applications.detach(this.#connection);
    });
  }

  #receive(bytes: Buffer): void {
    try {
      for (const payload of this.#reader.feed(bytes)) if (!this.#socket.writableEnded) this.#handle(payload);
    } catch (error) {
      if (!(error instanceof ControlProtocolError)) throw error;
      this.#deps.counters.count('apps.refused');
      this.#socket.destroy();
    }
  }

  #handle(payload: ByteString): void {
    const { fields, sip } = splitFrame(payload);
    const [id = '', type, secret = '', tags = ''] = fields;
    if (type === undefined) this.#close(id, 'Invalid message format');
    else if (this.#application) {
      const close = (why: string) => this.#close(id, why);
      const reply = (answer: ByteString) => this.#write(answer);
      this.#run(type, { id, fields, sip, reply, close }, this.#application);
    } else if (type === 'authenticate') this.#authenticate(id, secret, tags);
    else this.#close(id, 'not authenticated');
  }

  #authenticate(id: string, secret: string, tags: string): void {
    const { applications, hostports, newId } = this.#deps;
    if (!sameSecret(secret, this.#deps.secret)) {
      this.#close(id, 'incorrect secret');
      return;
    }
    this.#authenticateTimeout.cancel();
    this.#write(formatOk(newId(), id, hostports(), PROTOCOL_VERSION, hostports()));
    const write = (payload: ByteString) => this.#write(payload);
    this.#connection = { identity: tags, routes: this.#routes, write };
    this.#application = applications.attach(this.#connection);
  }

  #run(type: string, command: Command, application: Application): void {
    const { commands, newId, onCommand } = this.#deps;
    onCommand?.();
    if (type === 'sip') commands.sip(application, command);
    else if (type === 'proxy') commands.proxy(application, command);
    else if (type === 'ping') command.reply(formatOk(newId(), command.id, 'pong'));
    else if (type === 'route' || type === 'remove_route') {
      this.#changeRoute(type, (command.fields[2] ?? '').toLowerCase());
      command.reply(formatOk(newId(), command.id));
    } else command.close('Unknown message type');
  }

  #changeRoute(type: 'route' | 'remove_route', verb: string): void {
    if (type === 'remove_route') this.#routes.delete(verb);
    else if (this.#routes.size < MAX_ROUTES) {
      this.#routes.add(verb);
      this.#deps.applications.noteRoute(verb);
    }
  }

  /** The frames of one event-loop turn are written together: the system call is the main cost of a frame. */
  #write(payload: ByteString): void {
    if (this.#socket.destroyed) return;
    if (this.#socket.writableLength + this.#unsent.length > MAX_QUEUED_BYTES) {
      this.#deps.counters.count('apps.too_slow');
      this.#socket.destroy();
      return;
    }
    if (this.#unsent === '') setImmediate(() => this.#flush());
    this.#unsent += formatFrame(payload);
  }

  #flush(): void {
    if (this.#unsent !== '' && this.#socket.writable) this.#socket.write(bytesOf(this.#unsent));
    this.#unsent = '';
  }

  #close(id: string, why: string): void {
    this.#deps.counters.count('apps.refused');
    this.#write(formatNo(this.#deps.newId(), id, why));
    this.#flush();
    this.#socket.end();
  }
}

function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text, 'latin1').digest();
  return timingSafeEqual(digest(given), digest(Buffer.from(wanted, 'utf8').toString('latin1')));
}
