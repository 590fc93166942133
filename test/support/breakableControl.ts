import { connect, createServer, type Socket } from 'node:net';

/** Stands between an application and its SIP server, and breaks what connects them. */
export interface BreakableControl {
  /** Where to connect to reach that port. */
  portTo(port: number): number;
  cut(): void;
  /** Lets nobody through from now on. */
  hold(): void;
  letGo(): void;
  close(): Promise<void>;
}

export async function breakableControl(): Promise<BreakableControl> {
  const sockets = new Set<Socket>();
  let target = 0;
  let isHeld = false;
  const server = createServer((near) => {
    if (isHeld) {
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
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    portTo(port) {
      target = port;
      return typeof address === 'object' && address ? address.port : 0;
    },
    cut,
    hold() {
      isHeld = true;
    },
    letGo() {
      isHeld = false;
    },
    close: () =>
      new Promise((resolve) => {
        cut();
        server.close(() => resolve());
      }),
  };
}
