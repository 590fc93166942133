import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import type { buildConnector } from 'undici';
import type { Clock } from '../../base/clock.ts';
import { HttpClientError } from './errors.ts';

/** Where to open a connection. `address` is an IP address and nothing else, so that no resolver can be asked again. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** Absent for plain http. `serverName` is absent when the URL names an IP address (RFC 6066 section 3). */
  readonly tls?: { readonly serverName?: string };
}

/** Begins to open a connection and returns its socket at once. */
export type Connect = (endpoint: Endpoint) => Socket;

/**
 * Dials TCP, and TLS over it, with the certificate checked against the name, or against the address without one.
 *
 * @param options.ca - Trusted certificates, PEM, in place of Node's own (those and `NODE_EXTRA_CA_CERTS`).
 */
export function createConnect(options: { readonly ca?: string } = {}): Connect {
  return ({ address, port, tls: secure }) => {
    if (!secure) return net.connect({ host: address, port });
    return tls.connect({
      host: address,
      port,
      ALPNProtocols: ['http/1.1'],
      ...(secure.serverName === undefined ? {} : { servername: secure.serverName }),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    });
  };
}

export interface ConnectorOptions {
  readonly dial: Connect;
  readonly clock: Clock;
  readonly endpoint: Endpoint;
  /** To the end of the TLS handshake. */
  readonly timeoutMs: number;
  /** Sockets that are open or being opened; the connector keeps it up to date, its owner may destroy them. */
  readonly sockets: Set<Socket>;
}

/** A connector for undici that can reach one endpoint only, whatever undici asks for; it fails as {@link openSocket}. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  return (_asked, callback) => openSocket(options, callback);
}

/**
 * Opens a connection to the endpoint. It fails with `connect_failed` while no request can have been sent, or with
 * `tls_failed` once TCP stands.
 *
 * @param callback - Called once, in the tick in which it is known.
 */
export function openSocket(options: ConnectorOptions, callback: buildConnector.Callback): void {
  const { dial, clock, endpoint, timeoutMs, sockets } = options;
  const socket = dial(endpoint);
  let isTcpOpen = false;
  sockets.add(socket);
  socket.setNoDelay(true);
  const timer = clock.setTimer(
    () => socket.destroy(new Error(`no connection in ${timeoutMs} ms`)),
    timeoutMs,
  );
  const settle = () => {
    timer.cancel();
    socket.off('error', fail);
    socket.off('close', closeEarly);
  };
  const fail = (cause?: Error) => {
    settle();
    callback(failure(endpoint, isTcpOpen, cause), null);
  };
  const closeEarly = () => fail();
  socket.once('connect', () => {
    isTcpOpen = true;
  });
  socket.once('error', fail);
  socket.once('close', closeEarly);
  socket.once('close', () => sockets.delete(socket));
  socket.once(endpoint.tls ? 'secureConnect' : 'connect', () => {
    settle();
    callback(null, socket);
  });
}

function failure({ address, port }: Endpoint, isTcpOpen: boolean, cause?: Error): HttpClientError {
  const reason = cause ? (codeOf(cause) ?? cause.message) : 'closed at once';
  return isTcpOpen
    ? new HttpClientError(
        'tls_failed',
        `no trusted TLS connection to ${address} port ${port}: ${reason}`,
        cause,
      )
    : new HttpClientError('connect_failed', `no connection to ${address} port ${port}: ${reason}`, cause);
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
