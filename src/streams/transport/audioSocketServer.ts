import { once } from 'node:events';
import { request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { messageLength, readUuid, UUID_MESSAGE_BYTES } from '../../dialects/audiosocket.ts';
import { AUDIOSOCKET_UPGRADE } from './streamListener.ts';

/** Asterisk sends the UUID right after connecting. */
const UUID_TIMEOUT_MS = 5000;

export interface AudioSocketDeps {
  readonly host: string;
  readonly port: number;
  /** Redeems the ticket that the UUID is. @returns The URL of a voice thread; undefined when it admits nothing. */
  readonly forward: (uuid: string) => Promise<string | undefined>;
  readonly onError: (error: unknown, what: string) => void;
}

export interface AudioSocketServer {
  readonly port: number;
  /** Closes the connections that are left. Idempotent. */
  close(): Promise<void>;
}

/**
 * Takes AudioSocket connections, and relays each whose UUID is a ticket to the voice thread that serves it.
 *
 * @throws {Error} When the port is taken.
 */
export async function listenForAudioSockets(deps: AudioSocketDeps): Promise<AudioSocketServer> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((socket) => {
    keep(socket);
    admit(socket, deps, keep).catch((error: unknown) => {
      deps.onError(error, 'AudioSocket not admitted');
      socket.destroy();
    });
  });
  server.listen(deps.port, deps.host);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : deps.port,
    async close() {
      if (!server.listening) return;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function admit(socket: Socket, deps: AudioSocketDeps, keep: (socket: Socket) => void): Promise<void> {
  const head = await readHead(socket);
  const uuid = head && readUuid(head.subarray(0, UUID_MESSAGE_BYTES));
  const url = uuid === undefined ? undefined : await deps.forward(uuid);
  if (head === undefined || url === undefined || socket.destroyed) {
    socket.destroy();
    return;
  }
  const opening = request(url.replace(/^ws/, 'http'), {
    headers: { connection: 'Upgrade', upgrade: AUDIOSOCKET_UPGRADE },
    agent: false,
  });
  socket.once('close', () => opening.destroy());
  opening.on('error', () => socket.destroy());
  opening.on('response', () => socket.destroy());
  opening.on('upgrade', (_response, target, early) => {
    keep(target);
    socket.once('close', () => target.destroy());
    target.once('close', () => socket.destroySoon());
    target.write(head);
    socket.write(early);
    socket.pipe(target).pipe(socket);
  });
  opening.end();
}

/** @returns What was read, with the whole first message; undefined when there is none. */
async function readHead(socket: Socket): Promise<Buffer | undefined> {
  const timeout = setTimeout(() => socket.destroy(), UUID_TIMEOUT_MS);
  let head = Buffer.alloc(0);
  try {
    while (head.length < UUID_MESSAGE_BYTES) {
      const length = messageLength(head);
      if (socket.destroyed || (length !== undefined && length !== UUID_MESSAGE_BYTES)) return undefined;
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
      else head = Buffer.concat([head, chunk]);
      if (socket.readableEnded) return undefined;
    }
    return head;
  } finally {
    clearTimeout(timeout);
  }
}
