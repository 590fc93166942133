import type { Socket } from 'node:net';
import { Client, type Dispatcher, Pool } from 'undici';
import type { Clock, Timer } from '../../base/clock.ts';
import { type Connect, createConnector, type Endpoint, openSocket } from './connect.ts';

/** Below the five seconds after which many servers close an idle connection, so that requests seldom meet a closed one. */
const IDLE_CONNECTION_MS = 4_000;
export const MAX_RESPONSE_HEADER_BYTES = 16_384;

export interface SocketOptions {
  readonly endpoint: Endpoint;
  readonly connectTimeoutMs: number;
}

export interface LeaseOptions extends SocketOptions {
  /** `https://name:port`, for the request's Host header. */
  readonly origin: string;
  /** Shares connections with other requests for the same origin at the same address. */
  readonly keepAlive: boolean;
}

/** The right to send one request; `release` must follow, whatever became of the request. Idempotent. */
export interface SocketLease {
  /** @throws {EgressError} `connect_failed`, `tls_failed` */
  connect(): Promise<Socket>;
  release(): Promise<void>;
}

/** As {@link SocketLease}, for undici. */
export interface Lease {
  readonly dispatcher: Dispatcher;
  release(): Promise<void>;
}

export interface Connections {
  lease(options: LeaseOptions): Lease;
  /** A connection that nobody else gets, open or not. */
  leaseSocket(options: SocketOptions): SocketLease;
  /** Destroys every connection, also those in use. Idempotent. */
  close(): Promise<void>;
}

interface Line {
  readonly dispatcher?: Dispatcher;
  readonly sockets: Set<Socket>;
}

interface DispatcherLine extends Line {
  readonly dispatcher: Dispatcher;
}

interface SharedLine extends DispatcherLine {
  users: number;
  idleTimer: Timer | undefined;
}

/**
 * Keeps the open connections of one guarded client. A line leads to one origin at one checked address; lines are
 * shared only under exactly that pair, so that a name that moves to another address gets another line.
 */
export function createConnections(deps: { readonly dial: Connect; readonly clock: Clock }): Connections {
  const shared = new Map<string, SharedLine>();
  const single = new Set<Line>();

  function open({ origin, endpoint, connectTimeoutMs, keepAlive }: LeaseOptions): DispatcherLine {
    const sockets = new Set<Socket>();
    const options = {
      connect: createConnector({ ...deps, endpoint, timeoutMs: connectTimeoutMs, sockets }),
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
      // The request's own deadline holds for all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const dispatcher = keepAlive
      ? new Pool(origin, {
          ...options,
          keepAliveTimeout: IDLE_CONNECTION_MS,
          keepAliveMaxTimeout: IDLE_CONNECTION_MS,
        })
      : new Client(origin, { ...options, pipelining: 0 });
    return { dispatcher, sockets };
  }

  async function destroy({ dispatcher, sockets }: Line): Promise<void> {
    for (const socket of sockets) socket.destroy();
    await dispatcher?.destroy();
  }

  function keepUntilReleased(line: Line) {
    single.add(line);
    return { release: () => (single.delete(line) ? destroy(line) : Promise.resolve()) };
  }

  function leaseSingle(options: LeaseOptions): Lease {
    const line = open(options);
    return { dispatcher: line.dispatcher, ...keepUntilReleased(line) };
  }

  function leaseSocket({ endpoint, connectTimeoutMs }: SocketOptions) {
    const line = { sockets: new Set<Socket>() };
    const options = { ...deps, endpoint, timeoutMs: connectTimeoutMs, sockets: line.sockets };
    const connect = () =>
      new Promise<Socket>((resolve, reject) => {
        openSocket(options, (error, socket) => (socket ? resolve(socket) : reject(error)));
      });
    return { connect, ...keepUntilReleased(line) };
  }

  function leaseShared(options: LeaseOptions): Lease {
    const key = `${options.origin} ${options.endpoint.address}`;
    const line = shared.get(key) ?? { ...open(options), users: 0, idleTimer: undefined };
    shared.set(key, line);
    line.users += 1;
    line.idleTimer?.cancel();
    let isReleased = false;
    return {
      dispatcher: line.dispatcher,
      async release() {
        if (isReleased) return;
        isReleased = true;
        line.users -= 1;
        if (line.users > 0 || shared.get(key) !== line) return;
        line.idleTimer = deps.clock.setTimer(() => {
          shared.delete(key);
          void destroy(line);
        }, IDLE_CONNECTION_MS);
      },
    };
  }

  return {
    lease: (options) => (options.keepAlive ? leaseShared(options) : leaseSingle(options)),
    leaseSocket,
    async close() {
      const lines = [...single, ...shared.values()];
      for (const line of shared.values()) line.idleTimer?.cancel();
      single.clear();
      shared.clear();
      await Promise.all(lines.map(destroy));
    },
  };
}
