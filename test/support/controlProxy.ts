import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy between an application and its SIP server that can break the connection. */
export interface ControlProxy {
  /** Sets the target port. @returns The proxy's port. */
  portTo(port: number): number;
  disconnect(): void;
  /** Rejects new connections. */
  refuseConnections(): void;
  acceptConnections(): void;
  close(): Promise<void>;
}

export async function startControlProxy(): Promise<ControlProxy> {
  const sockets = new Set<Socket>();
  let target = 0;
  let isRefusing = false;
  const server = createServer((near) => {
    if (isRefusing) {
      near.destroy();
      return;
    }
    const far = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const disconnect = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    portTo(port) {
      target = port;
      return typeof address === 'object' && address ? address.port : 0;
    },
    disconnect,
    refuseConnections() {
      isRefusing = true;
    },
    acceptConnections() {
      isRefusing = false;
    },
    close: () =>
      new Promise((resolve) => {
        disconnect();
        server.close(() => resolve());
      }),
  };
}
