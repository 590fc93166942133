import type { AddressInfo } from 'node:net';
import webSockets from '@fastify/websocket';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';

import { chooseSubprotocol, findDialect } from '../../dialects/index.ts';
import { STREAM_PATH, type StreamGrant } from '../streamTickets.ts';
import { type LocalListener, listenLocally } from './localListener.ts';
import type { StreamSocket } from './streamSocket.ts';
import { TcpSocket } from './tcpSocket.ts';

/** Audio arrives in messages of some kilobytes; this is five seconds of it at 24 kHz. */
const MAX_MESSAGE_BYTES = 256 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
/** The protocol by which a relayed AudioSocket is announced. */
export const AUDIOSOCKET_UPGRADE = 'audiosocket';
const SWITCHING_TO_AUDIOSOCKET = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${AUDIOSOCKET_UPGRADE}\r\n\r\n`;

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
  const app = await streamRoutes(deps);
  await app.listen({ host, port: 0 });
  const local = await listenForOwnCalls(app, deps);
  return {
    port: (app.server.address() as AddressInfo).port,
    socketPath: local?.path,
    async close() {
      await local?.close();
      await app.close();
    },
  };
}

/** The route of audio streams: its hook redeems the ticket, and says 401 to one that is unknown, expired or used. */
export async function streamRoutes<Grant extends Pick<StreamGrant, 'dialect'>>(
  deps: StreamListenerDeps<Grant>,
): Promise<FastifyInstance> {
  const grants = new WeakMap<FastifyRequest, Grant>();
  const app = fastify({ forceCloseConnections: true, http: { headersTimeout: HEADERS_TIMEOUT_MS } });
  await app.register(webSockets, {
    // Compression is off, since audio does not compress.
    options: {
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      handleProtocols: chooseSubprotocol,
    },
    // A failed socket closes by itself, with a code that says why.
    errorHandler: () => {},
    // Calls were waited for before. The plugin would wait for the peers' part of a close.
    preClose(done) {
      for (const socket of app.websocketServer.clients) socket.terminate();
      done();
    },
  });
  app.setNotFoundHandler((request, reply) => void refuse(request, reply));
  app.setErrorHandler((error, _request, reply) => {
    deps.onError(error, 'audio stream not admitted');
    reply.code(503).send();
  });
  const admit = async (request: FastifyRequest<{ Params: { ticket: string } }>, reply: FastifyReply) => {
    if (!request.ws) return refuse(request, reply);
    const grant = await deps.redeem(request.params.ticket);
    const isTcp = request.headers.upgrade === AUDIOSOCKET_UPGRADE;
    if (grant === undefined || isTcp !== (findDialect(grant.dialect).isTcp === true))
      return refuse(request, reply);
    grants.set(request, grant);
    return isTcp ? serveTcp(deps, grant, reply) : undefined;
  };
  app.get(`${STREAM_PATH}/:ticket`, { websocket: true, preValidation: admit }, (socket, request) => {
    const grant = grants.get(request);
    if (grant) void deps.serve(grant, socket);
  });
  return app;
}

/** The peer of a relayed AudioSocket speaks no WebSocket: its messages are the bytes of the connection. */
function serveTcp<Grant>(deps: StreamListenerDeps<Grant>, grant: Grant, reply: FastifyReply): FastifyReply {
  const { socket } = reply.request.raw;
  reply.hijack();
  reply.raw.detachSocket(socket);
  socket.write(SWITCHING_TO_AUDIOSOCKET);
  void deps.serve(grant, new TcpSocket(socket, Buffer.alloc(0), () => performance.now()));
  return reply;
}

function refuse({ ws }: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(ws ? 401 : 426).send();
}

async function listenForOwnCalls(
  { server }: FastifyInstance,
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
