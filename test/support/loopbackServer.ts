import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');

/** Authority certificate of the https servers here, whose certificate names hook.test, localhost and loopback. */
export const testAuthority = (): string => fixture('ca.pem');

/** A server on loopback, on a free port, that counts its connections. */
export interface LoopbackServer {
  readonly port: number;
  /** Number of connections so far. */
  connections(): number;
  /** Number of open connections. */
  open(): number;
  close(): Promise<void>;
}

/** A listener that may read the request asynchronously. */
export type LoopbackListener = (request: IncomingMessage, response: ServerResponse) => unknown;

export async function serveOnLoopback(
  listener: LoopbackListener,
  options: { readonly secure?: boolean; readonly host?: string; readonly port?: number } = {},
): Promise<LoopbackServer> {
  const onRequest = ignoringWithdrawn(listener);
  const server = options.secure
    ? createSecureServer({ cert: fixture('server.pem'), key: fixture('server.key') }, onRequest)
    : createServer(onRequest);
  return listenOnLoopback(server, options);
}

/** Starts listening; `close` also destroys open connections. */
export async function listenOnLoopback(
  server: Server,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * A client may close the connection before the end of its request: a webhook is withdrawn before its last byte when
 * another node has claimed it. Reading such a request rejects with ECONNRESET.
 */
function ignoringWithdrawn(listener: LoopbackListener): RequestListener {
  return async (request, response) => {
    try {
      await listener(request, response);
    } catch (error) {
      const isWithdrawn = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
      if (!isWithdrawn) throw error;
    }
  };
}
