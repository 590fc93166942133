import net, { type Server } from 'node:net';
import { buildConnector } from 'undici';
import { systemClock } from '../../../src/base/values/clock.ts';
import {
  createGuardedHttpClient,
  type GuardedHttpClient,
  type GuardedHttpClientDeps,
  type GuardedRequest,
} from '../../../src/http/client.ts';
import type { BuildConnector } from '../../../src/http/pacedSocket.ts';
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
      buildConnector: trustingTestAuthority,
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

/** Connects as the product does, but trusts the certificates of the tests' servers. */
const trustingTestAuthority: BuildConnector = (options) =>
  buildConnector({ ...options, ca: testAuthority() });

export function get(url: string): GuardedRequest {
  return { method: 'GET', url, timeoutMs: 10_000 };
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}
