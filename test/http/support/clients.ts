import net, { type Server } from 'node:net';
import { systemClock } from '../../../src/base/values/clock.ts';
import {
  createGuardedHttpClient,
  type GuardedHttpClient,
  type GuardedHttpClientDeps,
  type GuardedRequest,
} from '../../../src/http/client.ts';
import { createConnect } from '../../../src/http/connect.ts';
import { useCleanups } from '../../support/cleanups.ts';
import {
  type LoopbackServer,
  listenOnLoopback,
  serveOnLoopback,
  testAuthority,
} from '../../support/loopbackServer.ts';

/** Clients and servers that are closed after each test; the file must leave nothing behind. */
export function useClients() {
  const cleanups = useCleanups();
  function client(deps: Partial<GuardedHttpClientDeps> = {}): GuardedHttpClient {
    const guarded = createGuardedHttpClient({
      policy: { allowInsecureLoopback: true },
      clock: systemClock,
      userAgent: 'Callway/test',
      connect: createConnect({ ca: testAuthority() }),
      ...deps,
    });
    cleanups.push(() => guarded.close());
    return guarded;
  }
  async function serve(...args: Parameters<typeof serveOnLoopback>): Promise<LoopbackServer> {
    const server = await serveOnLoopback(...args);
    cleanups.push(() => server.close());
    return server;
  }
  async function serveRaw(onRequest: (socket: net.Socket) => void): Promise<LoopbackServer> {
    const server: Server = net.createServer((socket) => {
      socket.once('data', () => onRequest(socket));
    });
    const listening = await listenOnLoopback(server);
    cleanups.push(() => listening.close());
    return listening;
  }
  return { cleanups, client, serve, serveRaw };
}

export function get(url: string): GuardedRequest {
  return { method: 'GET', url, timeoutMs: 10_000 };
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}
