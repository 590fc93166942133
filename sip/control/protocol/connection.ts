import { createHash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { type ByteString, bytesOf } from '../../message/bytes.ts';
import type { Counters } from '../../stats.ts';
import type { Application, ApplicationConnection, Applications } from './applications.ts';
import { ControlProtocolError, FrameReader, formatFrame, splitFrame } from './framing.ts';
import { formatNo, formatOk } from './messages.ts';

/** What an application may ask for once it has proved who it is. */
export interface CommandHandlers {
  sip(application: Application, command: Command): void;
  proxy(application: Application, command: Command): void;
}

export interface Command {
  readonly id: string;
  /** All fields of the meta line, id and type too. */
  readonly fields: readonly string[];
  /** The sparse SIP message. */
  readonly sip: ByteString;
  /** Writes an answer on the connection that the command came by. */
  reply(payload: ByteString): void;
  /** Answers, and closes the connection. */
  close(why: string): void;
}

export interface ConnectionDeps {
  readonly applications: Applications;
  readonly counters: Counters;
  readonly commands: CommandHandlers;
  readonly secret: string;
  readonly newId: () => string;
  readonly hostports: () => string;
  /** An application must authenticate within this time. */
  readonly authenticateMs: number;
  readonly startTimer: (callback: () => void, delayMs: number) => { cancel(): void };
}

/** Tells clients which commands are understood; `v` and three numbers, 0.8.2 or later makes them able to ping. */
export const PROTOCOL_VERSION = 'v0.9.9';
/** An application that does not read is cut off before it takes the memory of all. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/** More routes than there are methods are a mistake, or an attack. */
const MAX_ROUTES = 200;

/** Serves one application's connection until it closes. */
export function serveApplication(socket: Socket, deps: ConnectionDeps): void {
  const reader = new FrameReader();
  const routes = new Set<string>();
  let application: Application | undefined;
  let connection: ApplicationConnection | undefined;

  let unsent = '';
  const flush = (): void => {
    if (unsent !== '' && socket.writable) socket.write(bytesOf(unsent));
    unsent = '';
  };
  // What one turn of the event loop brings goes out together: a system call for each frame costs more than all else.
  const write = (payload: ByteString): void => {
    if (socket.destroyed) return;
    if (socket.writableLength + unsent.length > MAX_QUEUED_BYTES) {
      deps.counters.count('apps.too_slow');
      socket.destroy();
      return;
    }
    if (unsent === '') setImmediate(flush);
    unsent += formatFrame(payload);
  };
  const hangUp = (id: string, why: string): void => {
    deps.counters.count('apps.refused');
    write(formatNo(deps.newId(), id, why));
    flush();
    socket.end();
  };
  const authenticate = (id: string, secret: string, tags: string): void => {
    if (!sameSecret(secret, deps.secret)) {
      hangUp(id, 'incorrect secret');
      return;
    }
    waiting.cancel();
    const hostports = deps.hostports();
    write(formatOk(deps.newId(), id, hostports, PROTOCOL_VERSION, hostports));
    connection = { identity: tags, routes, write };
    application = deps.applications.attach(connection);
  };
  const run = (type: string, command: Command, as: Application): void => {
    const verb = (command.fields[2] ?? '').toLowerCase();
    if (type === 'sip') deps.commands.sip(as, command);
    else if (type === 'proxy') deps.commands.proxy(as, command);
    else if (type === 'ping') command.reply(formatOk(deps.newId(), command.id, 'pong'));
    else if (type === 'route' || type === 'remove_route') {
      if (type === 'route' && routes.size < MAX_ROUTES) {
        routes.add(verb);
        deps.applications.noteRoute(verb);
      } else if (type === 'remove_route') routes.delete(verb);
      command.reply(formatOk(deps.newId(), command.id));
    } else command.close('Unknown message type');
  };
  const handle = (payload: ByteString): void => {
    const { fields, sip } = splitFrame(payload);
    const [id = '', type, secret = '', tags = ''] = fields;
    if (type === undefined) hangUp(id, 'Invalid message format');
    else if (application)
      run(type, { id, fields, sip, reply: write, close: (why) => hangUp(id, why) }, application);
    else if (type === 'authenticate') authenticate(id, secret, tags);
    else hangUp(id, 'not authenticated');
  };

  const waiting = deps.startTimer(() => socket.destroy(), deps.authenticateMs);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  socket.on('data', (bytes: Buffer) => {
    try {
      for (const payload of reader.feed(bytes)) if (!socket.writableEnded) handle(payload);
    } catch (error) {
      if (!(error instanceof ControlProtocolError)) throw error;
      deps.counters.count('apps.refused');
      socket.destroy();
    }
  });
  // 'close' follows and does what is to be done.
  socket.on('error', () => deps.counters.count('apps.failed'));
  socket.on('close', () => {
    waiting.cancel();
    if (connection) deps.applications.detach(connection);
  });
}

/** A dead peer is found out within minutes although it says nothing. */
const KEEP_ALIVE_MS = 45_000;

function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text, 'latin1').digest();
  return timingSafeEqual(digest(given), digest(Buffer.from(wanted, 'utf8').toString('latin1')));
}
