import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { DialectConnection, DialectFacts, StreamMessage } from '../../dialects/dialect.ts';
import { chooseSubprotocol } from '../../dialects/index.ts';
import { openWebSocket } from '../../http/webSocket.ts';
import { CLOSE_NORMAL, type StreamSocket, sendMessage, toMessage } from '../transport/streamSocket.ts';
import { TcpSocket } from '../transport/tcpSocket.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Above a minute of speech at 24 kHz. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Connects to a bot as its carrier does. The address is the user's own and may be any.
 *
 * @throws {Error} When the bot refuses or does not answer in time.
 */
export async function connectToBot(
  url: string,
  { isTcp, subprotocols }: DialectFacts,
  headers: Readonly<Record<string, string>>,
): Promise<StreamSocket> {
  const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
  if (!isTcp) {
    const options = {
      subprotocol: subprotocols?.[0],
      headers,
      timeoutMs: CONNECT_TIMEOUT_MS,
      maxMessageBytes: MAX_MESSAGE_BYTES,
    };
    return await openWebSocket(new URL(url), options, signal);
  }
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
  try {
    await once(socket, 'connect', { signal });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return toStreamSocket(socket);
}

interface GatewayConnection {
  readonly socket: StreamSocket;
  /** Empty without one. */
  readonly subprotocol: string;
}

/** Waits for one connection of a gateway, as its bot does. */
export interface BotListener {
  readonly port: number;
  /** The first one. */
  readonly connection: Promise<GatewayConnection>;
  close(): void;
}

/** @throws {Error} When the port is taken. */
export async function listenForGateway(
  { isTcp }: DialectFacts,
  host: string,
  port: number,
): Promise<BotListener> {
  return isTcp ? await listenForTcp(host, port) : await listenForWebSocket(host, port);
}

async function listenForWebSocket(host: string, port: number): Promise<BotListener> {
  const server = new WebSocketServer({
    host,
    port,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: chooseSubprotocol,
  });
  const connection = new Promise<GatewayConnection>((resolve) => {
    server.once('connection', (socket) => resolve({ socket, subprotocol: socket.protocol }));
  });
  await once(server, 'listening');
  return { port: portOf(server), connection, close: () => void server.close() };
}

async function listenForTcp(host: string, port: number): Promise<BotListener> {
  const server = createServer();
  const connection = new Promise<GatewayConnection>((resolve) => {
    server.once('connection', (socket) => resolve({ socket: toStreamSocket(socket), subprotocol: '' }));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return { port: portOf(server), connection, close: () => void server.close() };
}

/** What a dialect sends by. */
export function connectionOf(socket: StreamSocket): DialectConnection {
  return {
    send: (message) => sendMessage(socket, message),
    close: (reason) => socket.close(CLOSE_NORMAL, reason),
  };
}

/** Follows a socket from now on. @returns Resolves after `onClose`. */
export function follow(
  socket: StreamSocket,
  onMessage: (message: StreamMessage) => void,
  onClose: (code: number) => void,
): Promise<void> {
  // A failed socket closes as well.
  socket.on('error', () => undefined);
  socket.on('message', (data, isBinary) => onMessage(toMessage(data, isBinary)));
  return new Promise((resolve) => {
    socket.on('close', (code) => {
      onClose(code);
      resolve();
    });
  });
}

function toStreamSocket(socket: Socket): StreamSocket {
  return new TcpSocket(socket, Buffer.alloc(0), () => performance.now());
}

function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}
