import { connect as connectTcp, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import {
  connect as connectTls,
  createServer as createTlsServer,
  rootCertificates,
  type SecureContextOptions,
} from 'node:tls';
import type { Counters } from '../stats.ts';
import { Connection, type ConnectionDeps } from './connection.ts';
import { type ConnectionLimits, createConnectionLimiter } from './connectionLimits.ts';
import type { Guard } from './guard.ts';
import { type Endpoint, endpointKey, type Flow, plainAddress } from './types.ts';

export interface TlsOptions {
  /** PEM texts. Without key and certificate there is no listener, but calls can go out. */
  readonly key?: string | undefined;
  readonly cert?: string | undefined;
  /** Beside the system's own authorities. */
  readonly ca?: string | undefined;
  /** Whether a peer that we connect to must prove its name. */
  readonly verify: boolean;
}

export interface StreamOptions extends ConnectionLimits {
  readonly tls: TlsOptions;
}

export interface StreamDeps extends Omit<ConnectionDeps, 'onClosed'> {
  readonly guard: Guard;
  readonly counters: Counters;
}

export interface StreamTransport {
  /** @throws {Error} When the address cannot be bound, or TLS lacks its key or certificate. */
  listen(transport: 'tcp' | 'tls', host: string, port: number): Promise<Endpoint>;
  /** Reuses a connection to that end, or makes one when something is sent. */
  flowTo(remote: Endpoint, servername?: string): Flow;
  /** Whether there is a connection to that end. */
  isConnected(remote: Endpoint): boolean;
  /** Those in their TLS handshake, too. */
  readonly connections: number;
  close(): Promise<void>;
}

export function createStreams(options: StreamOptions, deps: StreamDeps): StreamTransport {
  const connections = new Map<string, Connection>();
  const admission = createConnectionLimiter(options, deps.guard, deps.counters);
  const servers: Server[] = [];
  const locals = new Map<'tcp' | 'tls', Endpoint>();
  /** TLS connections that have not yet shown that they speak TLS. */
  const handshakes = new Map<string, Socket>();

  const connectionDeps: ConnectionDeps = {
    ...deps,
    onClosed(connection) {
      const { remote } = connection.flow;
      if (connections.get(endpointKey(remote)) === connection) connections.delete(endpointKey(remote));
      if (connection.inbound) admission.release(remote);
    },
  };

  const present = (): number => connections.size + handshakes.size;
  const open = (remote: Endpoint, socket: Socket): void => {
    const transport = remote.transport === 'tls' ? 'tls' : 'tcp';
    const local = locals.get(transport) ?? { transport, address: socket.localAddress ?? '', port: 0 };
    const ends = { remote, local, inbound: true, readyEvent: 'connect' as const };
    connections.set(endpointKey(remote), new Connection(socket, ends, connectionDeps));
  };
  const acceptTcp = (socket: Socket): void => {
    const remote = remoteOf('tcp', socket);
    if (admission.accept(remote, socket, present())) open(remote, socket);
  };
  const beginHandshake = (socket: Socket): void => {
    const remote = remoteOf('tls', socket);
    if (!admission.accept(remote, socket, present())) return;
    handshakes.set(endpointKey(remote), socket);
    socket.once('close', () => {
      if (handshakes.delete(endpointKey(remote))) admission.release(remote);
    });
  };
  const endHandshake = (socket: Socket): void => {
    const remote = remoteOf('tls', socket);
    if (handshakes.delete(endpointKey(remote))) open(remote, socket);
    else socket.destroy();
  };

  const dial = (remote: Endpoint, servername: string | undefined): Connection => {
    const transport = remote.transport === 'tls' ? 'tls' : 'tcp';
    const local = locals.get(transport) ?? { transport, address: '0.0.0.0', port: 0 };
    const socket = openSocket(remote, servername, options.tls);
    const readyEvent = transport === 'tls' ? ('secureConnect' as const) : ('connect' as const);
    const connection = new Connection(socket, { remote, local, inbound: false, readyEvent }, connectionDeps);
    connections.set(endpointKey(remote), connection);
    deps.counters.count('connections.dialled');
    return connection;
  };

  return {
    get connections() {
      return present();
    },
    async listen(transport, host, port) {
      const server = transport === 'tls' ? tlsServer(options.tls, deps) : createTcpServer(acceptTcp);
      if (transport === 'tls') {
        server.on('connection', beginHandshake);
        server.on('secureConnection', endHandshake);
      }
      await listenOn(server, host, port);
      servers.push(server);
      const bound = server.address();
      if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
      const local: Endpoint = { transport, address: bound.address, port: bound.port };
      locals.set(transport, local);
      return local;
    },
    flowTo(remote, servername) {
      const local = locals.get(remote.transport === 'tls' ? 'tls' : 'tcp');
      return {
        remote,
        local: local ?? { transport: remote.transport, address: '0.0.0.0', port: 0 },
        reliable: true,
        send(text, onError) {
          const connection = connections.get(endpointKey(remote)) ?? dial(remote, servername);
          connection.flow.send(text, onError);
        },
      };
    },
    isConnected: (remote) => connections.has(endpointKey(remote)),
    async close() {
      const closing = servers
        .splice(0)
        .map((server) => new Promise<void>((done) => server.close(() => done())));
      for (const socket of handshakes.values()) socket.destroy();
      for (const connection of [...connections.values()])
        connection.close(new Error('the server is closing'));
      await Promise.all(closing);
    },
  };
}

function remoteOf(transport: 'tcp' | 'tls', socket: Socket): Endpoint {
  return { transport, address: plainAddress(socket.remoteAddress ?? ''), port: socket.remotePort ?? 0 };
}

function openSocket(remote: Endpoint, servername: string | undefined, tls: TlsOptions): Socket {
  const at = { host: remote.address, port: remote.port };
  if (remote.transport !== 'tls') return connectTcp(at);
  const named = servername === undefined ? {} : { servername };
  return connectTls({ ...at, ...named, ...secureContext(tls), rejectUnauthorized: tls.verify });
}

function tlsServer(tls: TlsOptions, { counters, times }: StreamDeps): Server {
  if (tls.key === undefined || tls.cert === undefined)
    throw new Error('TLS needs both a key and a certificate');
  const server = createTlsServer({ ...secureContext(tls), handshakeTimeout: times.handshakeMs });
  server.on('tlsClientError', (_error, socket) => {
    counters.count('connections.failed');
    // One whose handshake ran out of time would stay open.
    socket.destroy();
  });
  return server;
}

function secureContext(tls: TlsOptions): SecureContextOptions {
  return {
    minVersion: 'TLSv1.2',
    ...(tls.key === undefined ? {} : { key: tls.key }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.ca === undefined ? {} : { ca: [...rootCertificates, tls.ca] }),
  };
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
