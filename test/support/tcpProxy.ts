import { createConnection, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from './loopbackServer.ts';

/** A TCP proxy that can stop forwarding. */
export interface TcpProxy {
  readonly port: number;
  /** Stops forwarding in both directions; connections stay open, and new ones are accepted and get no answer. */
  pause(): void;
  /** Resumes forwarding, starting with the bytes received meanwhile. */
  resume(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<TcpProxy> {
  const ends = new Set<Socket>();
  let isCut = false;
  const join = (from: Socket, to: Socket) => {
    ends.add(from);
    from.pipe(to);
    if (isCut) from.pause();
    from.on('error', () => undefined);
    from.on('close', () => {
      ends.delete(from);
      to.destroy();
    });
  };
  const server = await listenOnLoopback(
    createServer((near) => {
      const far = createConnection(target);
      join(near, far);
      join(far, near);
    }),
  );
  return {
    port: server.port,
    pause() {
      isCut = true;
      for (const end of ends) end.pause();
    },
    resume() {
      isCut = false;
      for (const end of ends) end.resume();
    },
    async close() {
      for (const end of ends) end.destroy();
      await server.close();
    },
  };
}
