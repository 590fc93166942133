import type { Socket } from 'node:net';
import { Client, type Dispatcher, Pool } from 'undici';
import type { Clock, Timer } from '../base/values/clock.ts';
import { type Connect, createConnector, type Endpoint, openSocket } from './connect.ts';

/** Shorter than five seconds, after which many servers close an idle connection. */
const IDLE_CONNECTION_MS = 4_000;
export const MAX_RESPONSE_HEADER_BYTES = 16_384;

export interface SocketOptions {
  readonly endpoint: Endpoint;
  readonly connectTimeoutMs: number;
}

export interface LeaseOptions extends SocketOptions {
  /** `https://name:port`, for the request's Host header. */
  readonly origin: string;
  /** Shares connections with other requests to the same origin and address. */
  readonly keepAlive: boolean;
}

/** Permission to send one request. `release` must be called in any case. Idempotent. */
export interface SocketLease {
  /** @throws {HttpClientError} `connect_failed`, `tls_failed` */
  connect(): Promise<Socket>;
  release(): Promise<void>;
}

/** A {@link SocketLease} for undici. */
export interface Lease {
  readonly dispatcher: Dispatcher;
  release(): Promise<void>;
}

interface Connection {
  readonly sockets: Set<Socket>;
  readonly dispatcher?: Dispatcher;
}

interface SharedConnection extends Connection {
  readonly dispatcher: Dispatcher;
  users: number;
  idleTimer: Timer | undefined;
}

/**
 * The open connections of one client. Connections are shared only for the same origin and the same checked address, so a
 * name that moves to another address gets new ones.
 */
export class Connections {
  readonly #deps: { readonly connect: Connect; readonly clock: Clock };
  readonly #shared = new Map<string, SharedConnection>();
  readonly #exclusive = new Set<Connection>();

  constructor(deps: { readonly connect: Connect; readonly clock: Clock }) {
    this.#deps = deps;
  }

  lease(options: LeaseOptions): Lease {
    return options.keepAlive ? this.#leaseShared(options) : this.#leaseExclusive(this.#open(options));
  }

  /** Leases a connection for one request. */
  leaseSocket({ endpoint, connectTimeoutMs }: SocketOptions): SocketLease {
    const sockets = new Set<Socket>();
    const options = { ...this.#deps, endpoint, timeoutMs: connectTimeoutMs, sockets };
    const connect = () =>
      new Promise<Socket>((resolve, reject) => {
        openSocket(options, (error, socket) => (socket ? resolve(socket) : reject(error)));
      });
    return { connect, ...this.#leaseExclusive({ sockets }) };
  }

  /** Destroys all connections, including those in use. Idempotent. */
  async close(): Promise<void> {
    const all = [...this.#exclusive, ...this.#shared.values()];
    for (const { idleTimer } of this.#shared.values()) idleTimer?.cancel();
    this.#exclusive.clear();
    this.#shared.clear();
    await Promise.all(all.map(destroy));
  }

  #open({ origin, endpoint, connectTimeoutMs, keepAlive }: LeaseOptions) {
    const sockets = new Set<Socket>();
    const options = {
      connect: createConnector({ ...this.#deps, endpoint, timeoutMs: connectTimeoutMs, sockets }),
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
      // The request's own deadline applies.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const idle = { keepAliveTimeout: IDLE_CONNECTION_MS, keepAliveMaxTimeout: IDLE_CONNECTION_MS };
    const dispatcher = keepAlive
      ? new Pool(origin, { ...options, ...idle })
      : new Client(origin, { ...options, pipelining: 0 });
    return { dispatcher, sockets };
  }

  #leaseExclusive<Leased extends Connection>(connection: Leased) {
    this.#exclusive.add(connection);
    const release = async () => {
      if (this.#exclusive.delete(connection)) await destroy(connection);
    };
    return { ...connection, release };
  }

  #leaseShared(options: LeaseOptions): Lease {
    const key = `${options.origin} ${options.endpoint.address}`;
    const connection = this.#shared.get(key) ?? { ...this.#open(options), users: 0, idleTimer: undefined };
    this.#shared.set(key, connection);
    connection.users += 1;
    connection.idleTimer?.cancel();
    let isReleased = false;
    const release = async () => {
      if (isReleased) return;
      isReleased = true;
      connection.users -= 1;
      if (connection.users > 0 || this.#shared.get(key) !== connection) return;
      connection.idleTimer = this.#deps.clock.setTimer(() => {
        this.#shared.delete(key);
        void destroy(connection);
      }, IDLE_CONNECTION_MS);
    };
    return { dispatcher: connection.dispatcher, release };
  }
}

async function destroy({ dispatcher, sockets }: Connection): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await dispatcher?.destroy();
}
