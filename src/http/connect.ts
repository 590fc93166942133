import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import type { buildConnector } from 'undici';
import type { Clock } from '../base/values/clock.ts';
import { HttpClientError } from './errors.ts';

/** The place to connect to. `address` is an IP address, so that no name is resolved again. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /**
   * The TLS settings; undefined for plain http. `serverName` is undefined when the URL has an IP address (RFC 6066
   * section 3).
   */
  readonly tls?: { readonly serverName?: string };
}

/** Starts to connect and returns the socket at once. */
export type Connect = (endpoint: Endpoint) => Socket;

/**
 * Connects over TCP or TLS. The certificate is verified for the name, or for the address without a name.
 *
 * @param options.ca - Trusted certificates as PEM, instead of Node's own and `NODE_EXTRA_CA_CERTS`.
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
  readonly connect: Connect;
  readonly clock: Clock;
  readonly endpoint: Endpoint;
  /** The timeout, which includes the TLS handshake. */
  readonly timeoutMs: number;
  /** Sockets that are open or connecting. The connector updates it; the owner may destroy them. */
  readonly sockets: Set<Socket>;
}

/** A connector for undici that connects to one endpoint only; fails as {@link openSocket}. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  return (_asked, callback) => openSocket(options, callback);
}

/**
 * Connects to the endpoint. Fails with `connect_failed` before TCP is connected, and with `tls_failed` afterwards.
 *
 * @param callback - Called once, synchronously with the event.
 */
export function openSocket(options: ConnectorOptions, callback: buildConnector.Callback): void {
  const { connect, clock, endpoint, timeoutMs, sockets } = options;
  const socket = connect(endpoint);
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
