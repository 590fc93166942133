import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { DialectConnection, DialectFacts } from '../../dialects/dialect.ts';
import { chooseSubprotocol } from '../../dialects/index.ts';
import { openWebSocket } from '../../http/webSocket.ts';
import { CLOSE_NORMAL, type StreamSocket, sendMessage } from '../transport/streamSocket.ts';
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

/** Waits for one connection of a gateway, as its bot does. */
export interface BotListener {
  readonly port: number;
  /** The first one. */
  readonly connection: Promise<StreamSocket>;
  close(): void;
}

/** @throws {Error} When the port is taken. */
export async function listenForGateway(
  { isTcp }: DialectFacts,
  host: string,
  port: number,
): Promise<BotListener> {
  const options = {
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: chooseSubprotocol,
  };
  const server = isTcp ? createServer().listen(port, host) : new WebSocketServer({ host, port, ...options });
  const connection = new Promise<StreamSocket>((resolve) => {
    server.once('connection', (socket: Socket | WebSocket) =>
      resolve(socket instanceof Socket ? toStreamSocket(socket) : socket),
    );
  });
  await once(server, 'listening');
  const { port: listening } = server.address() as AddressInfo;
  return { port: listening, connection, close: () => void server.close() };
}

/** What a dialect sends by. */
export function connectionOf(socket: StreamSocket): DialectConnection {
  return {
    send: (message) => sendMessage(socket, message),
    close: (reason) => socket.close(CLOSE_NORMAL, reason),
  };
}

function toStreamSocket(socket: Socket): StreamSocket {
  return new TcpSocket(socket, Buffer.alloc(0), () => performance.now());
}
