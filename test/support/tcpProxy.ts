import { createConnection, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

import { listenOnLoopback } from './loopbackServer.ts';

/** A TCP proxy that can stop forwarding, or forward late. */
export interface TcpProxy {
  readonly port: number;
  /** How late the target's bytes arrive; 0 at first. */
  delayMs: number;
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
  let delayMs = 0;
  const late = () =>
    new Transform({
      transform(bytes, _encoding, done) {
        if (delayMs === 0) this.push(bytes);
        else setTimeout(() => this.destroyed || this.push(bytes), delayMs);
        done();
      },
    });
  const join = (from: Socket, to: Socket, through?: Transform) => {
    ends.add(from);
    if (through) from.pipe(through).pipe(to);
    else from.pipe(to);
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
      join(far, near, late());
    }),
  );
  return {
    port: server.port,
    get delayMs() {
      return delayMs;
    },
    set delayMs(ms) {
      delayMs = ms;
    },
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
