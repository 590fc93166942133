import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';

import { chooseSubprotocol, findDialect } from '../dialects/index.ts';
import { STREAM_PATH, type StreamGrant } from '../streamTickets.ts';
import { type LocalListener, listenLocally } from './localListener.ts';
import type { StreamSocket } from './streamSocket.ts';
import { TcpSocket } from './tcpSocket.ts';

/** Audio arrives in messages of some kilobytes; this is five seconds of it at 24 kHz. */
const MAX_MESSAGE_BYTES = 256 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
/** The protocol by which a relayed AudioSocket is announced. */
export const AUDIOSOCKET_UPGRADE = 'audiosocket';

export interface StreamListenerDeps<Grant> {
  readonly redeem: (ticket: string) => Promise<Grant | undefined>;
  /** Serves a connection whose ticket was redeemed; never rejects. */
  readonly serve: (grant: Grant, socket: StreamSocket) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
  /** Calls of this node connect by a Unix domain socket below this folder; without one, or where none can be made, by the port. */
  readonly socketsBelow?: string;
}

/** The HTTP server of a voice or media thread: nothing but audio WebSockets with a ticket in their path. */
export interface StreamListener {
  readonly port: number;
  /** The Unix domain socket. */
  readonly socketPath: string | undefined;
  /** Terminates the connections that are left. Idempotent. */
  close(): Promise<void>;
}

/** @param host - The address to listen on, at a free port. */
export async function listenForStreams<Grant extends Pick<StreamGrant, 'dialect'>>(
  host: string,
  deps: StreamListenerDeps<Grant>,
): Promise<StreamListener> {
  // Compression is off, since audio does not compress.
  const webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: chooseSubprotocol,
  });
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS }, (_request, response) => {
    response.writeHead(426, { connection: 'close' }).end();
  });
  const admit = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const [, ticket] = request.url?.split(`${STREAM_PATH}/`) ?? [];
    const grant = ticket === undefined ? undefined : await deps.redeem(ticket);
    const isTcp = request.headers.upgrade === AUDIOSOCKET_UPGRADE;
    if (grant === undefined || isTcp !== (findDialect(grant.dialect).isTcp === true)) {
      return refuse(socket, '401 Unauthorized');
    }
    // The peer speaks no HTTP: it is answered in its own dialect.
    if (isTcp) return void deps.serve(grant, new TcpSocket(socket as Socket, head, () => performance.now()));
    webSockets.handleUpgrade(request, socket, head, (webSocket) => void deps.serve(grant, webSocket));
  };
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    admit(request, socket, head).catch((error: unknown) => {
      deps.onError(error, 'audio stream not admitted');
      refuse(socket, '503 Service Unavailable');
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const local = await listenForOwnCalls(server, deps);
  return {
    port: (server.address() as AddressInfo).port,
    socketPath: local?.path,
    async close() {
      if (!server.listening) return;
      await local?.close();
      for (const webSocket of webSockets.clients) webSocket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listenForOwnCalls(
  server: Server,
  { socketsBelow, onError }: Pick<StreamListenerDeps<unknown>, 'socketsBelow' | 'onError'>,
): Promise<LocalListener | undefined> {
  if (socketsBelow === undefined) return undefined;
  try {
    return await listenLocally(socketsBelow, (socket) => server.emit('connection', socket));
  } catch (error) {
    onError(error, 'no Unix domain socket, calls of this node connect by TCP');
    return undefined;
  }
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
