import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIP } from 'node:net';
import { bytesOf } from '../message/bytes.ts';
import type { Endpoint, Flow } from './types.ts';

export interface UdpDeps {
  onDatagram(bytes: Buffer, flow: Flow): void;
  onError(error: Error): void;
  onSent(text: string, remote: Endpoint): void;
}

export interface UdpTransport {
  readonly local: Endpoint;
  flowTo(remote: Endpoint): Flow;
  close(): Promise<void>;
}

/** Holds a burst of calls while the event loop is busy. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/**
 * Binds one UDP socket.
 *
 * @throws {Error} When the address cannot be bound.
 */
export async function openUdp(host: string, port: number, deps: UdpDeps): Promise<UdpTransport> {
  const family = isIP(host) === 6 ? 6 : 4;
  // A dual-stack socket would report IPv4 peers as mapped IPv6 addresses.
  const socket = createSocket({ type: `udp${family}`, ipv6Only: family === 6, lookup: literalsOnly });
  await bind(socket, host, port);
  enlarge(socket);
  const bound = socket.address();
  const local: Endpoint = { transport: 'udp', address: bound.address, port: bound.port };
  let closed = false;

  const flowTo = (remote: Endpoint): Flow => ({
    remote,
    local,
    reliable: false,
    send(text, onError) {
      if (closed) {
        process.nextTick(() => onError?.(new Error('the UDP socket is closed')));
        return;
      }
      try {
        socket.send(bytesOf(text), remote.port, remote.address, (error) => {
          if (error) onError?.(error);
        });
      } catch (error) {
        // An invalid port or address from a message.
        process.nextTick(() => onError?.(error instanceof Error ? error : new Error(String(error))));
        return;
      }
      deps.onSent(text, remote);
    },
  });

  socket.on('error', deps.onError);
  socket.on('message', (bytes: Buffer, info: RemoteInfo) => {
    // Sending to port 0 throws.
    if (info.port === 0) return;
    deps.onDatagram(bytes, flowTo({ transport: 'udp', address: info.address, port: info.port }));
  });
  return {
    local,
    flowTo,
    close: () =>
      new Promise((resolve) => {
        if (closed) return resolve();
        closed = true;
        socket.close(() => resolve());
      }),
  };
}

/** Resolves literals only, which all addresses are. The default lookup costs an event-loop turn per datagram. */
function literalsOnly(
  address: string,
  _options: unknown,
  done: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
): void {
  const family = isIP(address);
  done(family === 0 ? new Error(`"${address}" is no IP address`) : null, address, family);
}

function bind(socket: Socket, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address: host, port }, () => {
      socket.off('error', reject);
      resolve();
    });
  });
}

/** Enlarges the socket's buffers; the kernel may grant less. */
function enlarge(socket: Socket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
  } catch {
    // Datagrams lost in a burst are retransmitted.
  }
}
