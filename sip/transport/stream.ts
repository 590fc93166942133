import { connect as connectTcp, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import {
  connect as connectTls,
  createServer as createTlsServer,
  rootCertificates,
  type SecureContextOptions,
} from 'node:tls';
import type { Counters } from '../stats.ts';
import { Connection, type ConnectionDeps } from './connection.ts';
import {
  type ConnectionLimiter,
  type ConnectionLimits,
  createConnectionLimiter,
} from './connectionLimits.ts';
import type { Guard } from './guard.ts';
import { type Endpoint, endpointKey, type Flow, plainAddress, type TransportName } from './types.ts';

export interface TlsOptions {
  /** PEM text. Without key and certificate there is no listener, but outbound TLS works. */
  readonly key?: string | undefined;
  readonly cert?: string | undefined;
  /** Additional certificate authorities. */
  readonly ca?: string | undefined;
  /** True when certificates of servers are verified. */
  readonly verify: boolean;
}

export interface StreamOptions extends ConnectionLimits {
  readonly tls: TlsOptions;
}

export interface StreamDeps extends Omit<ConnectionDeps, 'onClosed'> {
  readonly guard: Guard;
  readonly counters: Counters;
}

/** The TCP and TLS connections, inbound and outbound, reused by remote endpoint. */
export class StreamTransport {
  readonly #options: StreamOptions;
  readonly #deps: StreamDeps;
  readonly #connectionDeps: ConnectionDeps;
  readonly #limiter: ConnectionLimiter;
  readonly #connections = new Map<string, Connection>();
  /** Inbound TLS connections during their handshake. */
  readonly #handshakes = new Map<string, Socket>();
  readonly #servers: Server[] = [];
  readonly #locals = new Map<TransportName, Endpoint>();

  constructor(options: StreamOptions, deps: StreamDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#limiter = createConnectionLimiter(options, deps.guard, deps.counters);
    this.#connectionDeps = { ...deps, onClosed: (connection) => this.#onClosed(connection) };
  }

  /** Open connections, including those in their TLS handshake. */
  get connections(): number {
    return this.#connections.size + this.#handshakes.size;
  }

  /** @throws {Error} When the address cannot be bound, or TLS has no key or certificate. */
  async listen(transport: 'tcp' | 'tls', host: string, port: number): Promise<Endpoint> {
    const server =
      transport === 'tls'
        ? tlsServer(this.#options.tls, this.#deps)
        : createTcpServer((socket) => this.#acceptTcp(socket));
    if (transport === 'tls') {
      server.on('connection', (socket: Socket) => this.#beginHandshake(socket));
      server.on('secureConnection', (socket: Socket) => this.#endHandshake(socket));
    }
    await listenOn(server, host, port);
    this.#servers.push(server);
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
    const local: Endpoint = { transport, address: bound.address, port: bound.port };
    this.#locals.set(transport, local);
    return local;
  }

  /** Reuses a connection to the endpoint, or opens one for the first message. */
  flowTo(remote: Endpoint, servername?: string): Flow {
    return {
      remote,
      local: this.#localOf(remote.transport),
      reliable: true,
      send: (text, onError) => {
        const connection = this.#connections.get(endpointKey(remote)) ?? this.#connect(remote, servername);
        connection.flow.send(text, onError);
      },
    };
  }

  isConnected(remote: Endpoint): boolean {
    return this.#connections.has(endpointKey(remote));
  }

  async close(): Promise<void> {
    const closing = this.#servers
      .splice(0)
      .map((server) => new Promise<void>((done) => server.close(() => done())));
    for (const socket of this.#handshakes.values()) socket.destroy();
    for (const connection of [...this.#connections.values()]) {
      connection.close(new Error('the server is closing'));
    }
    await Promise.all(closing);
  }

  #localOf(transport: TransportName): Endpoint {
    return this.#locals.get(transport) ?? { transport, address: '0.0.0.0', port: 0 };
  }

  #acceptTcp(socket: Socket): void {
    const remote = remoteOf('tcp', socket);
    if (this.#limiter.accept(remote, socket, this.connections)) this.#addInbound(remote, socket);
  }

  #beginHandshake(socket: Socket): void {
    const remote = remoteOf('tls', socket);
    if (!this.#limiter.accept(remote, socket, this.connections)) return;
    this.#handshakes.set(endpointKey(remote), socket);
    socket.once('close', () => {
      if (this.#handshakes.delete(endpointKey(remote))) this.#limiter.release(remote);
    });
  }

  #endHandshake(socket: Socket): void {
    const remote = remoteOf('tls', socket);
    if (this.#handshakes.delete(endpointKey(remote))) this.#addInbound(remote, socket);
    else socket.destroy();
  }

  #addInbound(remote: Endpoint, socket: Socket): void {
    const ends = {
      remote,
      local: this.#localOf(remote.transport),
      inbound: true,
      readyEvent: 'connect',
    } as const;
    this.#connections.set(endpointKey(remote), new Connection(socket, ends, this.#connectionDeps));
  }

  #connect(remote: Endpoint, servername: string | undefined): Connection {
    const socket = openSocket(remote, servername, this.#options.tls);
    const readyEvent = remote.transport === 'tls' ? 'secureConnect' : 'connect';
    const ends = { remote, local: this.#localOf(remote.transport), inbound: false, readyEvent } as const;
    const connection = new Connection(socket, ends, this.#connectionDeps);
    this.#connections.set(endpointKey(remote), connection);
    this.#deps.counters.count('connections.dialled');
    return connection;
  }

  #onClosed(connection: Connection): void {
    const { remote } = connection.flow;
    const key = endpointKey(remote);
    if (this.#connections.get(key) === connection) this.#connections.delete(key);
    if (connection.inbound) this.#limiter.release(remote);
  }
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
    // The socket stays open after a handshake timeout.
    socket.destroy();
  });
  return server;
}

function secureContext(tls: TlsOptions): SecureContextOptions {
  return {
    minVersion: 'TLSv1.2',
    key: tls.key,
    cert: tls.cert,
    ca: tls.ca && [...rootCertificates, tls.ca],
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
