import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { PacketIo, PacketListener, PacketSocket } from './packetIo.ts';
import type { MediaAddress } from './sourceLatch.ts';

/** Opens Node's UDP sockets. */
export const udpPacketIo: PacketIo = {
  async bind({ address, port }) {
    const family = isIPv6(address) ? 6 : 4;
    const socket = createSocket({
      type: family === 6 ? 'udp6' : 'udp4',
      // Addresses are literal; the resolver would cost each packet a turn of the event loop.
      lookup: (literal, _options, done) => done(null, literal, family),
    });
    // Before `bind`, which emits within the call.
    const listening = once(socket, 'listening');
    socket.bind(port, address);
    try {
      await listening;
    } catch (error) {
      socket.close();
      throw error;
    }
    return new UdpSocket(socket);
  },
};

class UdpSocket implements PacketSocket {
  readonly port: number;
  failures = 0;
  readonly #socket: Socket;
  #connectedTo: MediaAddress | undefined;
  #closed: Promise<void> | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.port = socket.address().port;
    // A connected socket reports an unreachable port, as at the end of a call.
    socket.on('error', () => {
      this.failures++;
    });
  }

  listen(listener: PacketListener): void {
    this.#socket.removeAllListeners('message');
    this.#socket.on('message', (bytes, { address, port }) => listener(bytes, address, port));
  }

  send(bytes: Uint8Array, to: MediaAddress): void {
    if (this.#closed !== undefined) return;
    const connected = this.#connectedTo;
    if (connected !== undefined && !(connected.port === to.port && connected.address === to.address)) {
      this.only(undefined);
    }
    try {
      if (this.#connectedTo === undefined) this.#socket.send(bytes, to.port, to.address);
      else this.#socket.send(bytes);
    } catch {
      this.failures++;
    }
  }

  only(source: MediaAddress | undefined): void {
    if (this.#closed !== undefined) return;
    try {
      if (this.#connectedTo !== undefined) this.#socket.disconnect();
      this.#connectedTo = undefined;
      if (source !== undefined) this.#socket.connect(source.port, source.address);
      this.#connectedTo = source;
    } catch {
      this.failures++;
    }
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#socket.close(() => resolve());
    });
    return this.#closed;
  }
}
