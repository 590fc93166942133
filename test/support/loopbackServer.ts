import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');

/** Authority certificate of the https servers here, whose certificate names hook.test, localhost and loopback. */
export const testAuthority = fixture('ca.pem');

/** A server on loopback, on a free port, that counts its connections. */
export interface LoopbackServer {
  readonly port: number;
  /** Number of connections so far. */
  connections(): number;
  /** Number of open connections. */
  open(): number;
  close(): Promise<void>;
}

export async function serveOnLoopback(
  listener: RequestListener,
  options: { readonly secure?: boolean; readonly host?: string; readonly port?: number } = {},
): Promise<LoopbackServer> {
  const server = options.secure
    ? createSecureServer({ cert: fixture('server.pem'), key: fixture('server.key') }, listener)
    : createServer(listener);
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
