import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { createSrf, type SrfApp, type SrfRequest, type SrfRequestOptions, type SrfResponse } from './srf.ts';

/** Where a SIP server takes its applications. */
export interface ControlTarget {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  readonly tls?: ConnectionOptions;
}

/** One connection to a SIP server, from its first byte to its last. */
export interface ControlConnection {
  /** Where it takes SIP: `udp/192.0.2.1:5060`. */
  readonly endpoints: readonly string[];
  /** As in `v0.9.9`. */
  readonly version: string;
  /** @throws {Error} When the connection is gone. @param onSent - Not called when the connection breaks before. */
  request(options: SrfRequestOptions, onSent: (error: Error | null, request: SrfRequest) => void): void;
  /** Resolves with the reason, after which nothing more comes. */
  readonly gone: Promise<string>;
  /** Calls back once with the reason, unless the returned function is called before. */
  onGone(listener: (reason: string) => void): () => void;
  close(): void;
}

export interface ConnectionHooks {
  readonly onRequest: (request: SrfRequest, response: SrfResponse) => void;
  /** A defect that one message brought to light; the connection is closed. */
  readonly onError: (error: unknown) => void;
}

/** To be connected, authenticated and routed. */
const OPEN_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 15_000;
/** A server whose machine is gone says nothing, not even that. */
const PONG_TIMEOUT_MS = 10_000;

/**
 * Connects once. Each connection has a drachtio-srf of its own that never reconnects by itself, since its own
 * reconnection does so every 260 ms after a wrong secret, in plain TCP after TLS, and sends its routes again.
 *
 * @throws {Error} When it cannot be connected, or the secret is refused.
 */
export function openConnection(
  target: ControlTarget,
  tag: string,
  hooks: ConnectionHooks,
  clock: Clock,
): Promise<ControlConnection> {
  return new Promise((resolve, reject) => {
    const srf = createSrf(tag);
    let socket: Socket | undefined;
    let isGone = false;
    let sayGone: (reason: string) => void = () => undefined;
    const gone = new Promise<string>((resolveGone) => {
      sayGone = resolveGone;
    });
    const listeners = new Set<(reason: string) => void>();
    const end = (reason: string) => {
      if (isGone) return;
      isGone = true;
      limit.cancel();
      socket?.destroy();
      reject(new Error(reason));
      for (const listener of listeners) listener(reason);
      listeners.clear();
      sayGone(reason);
    };
    const limit = clock.setTimer(() => end('it did not answer in time'), OPEN_TIMEOUT_MS);
    listen(srf, hooks);
    srf.on('error', (error: Error) => end(error.message));
    srf.on('close', () => end('the connection was closed'));
    srf.on('connect', (error: Error | null, endpoints = '', version = '') => {
      if (error || !socket) return end('it refuses the secret');
      limit.cancel();
      keepAlive(srf, socket, clock, gone, end);
      resolve({
        endpoints: String(endpoints).split(',').filter(Boolean),
        version: String(version),
        request(options, onSent) {
          if (isGone) throw new Error('the connection to the SIP server is gone');
          srf.app.client.request(options, onSent);
        },
        gone,
        onGone(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        close: () => end('closed'),
      });
    });
    srf.connect({ ...target, reconnect: { maxAttempts: 1 } });
    srf.app.client.wp.on('connect', (connected: Socket) => {
      socket = connected;
      if (isGone) connected.destroy();
      else
        contain(srf, connected, (error) => {
          hooks.onError(error);
          end('what it said could not be understood');
        });
    });
  });
}

/** All that may come outside of calls: what we do not take we refuse ourselves, where a SIP server would say 503. */
const ROUTED = [
  'invite',
  'options',
  'info',
  'message',
  'notify',
  'publish',
  'refer',
  'register',
  'subscribe',
] as const;

function listen(srf: SrfApp, hooks: ConnectionHooks): void {
  srf.use((request, response) => {
    try {
      hooks.onRequest(request, response);
    } catch (error) {
      hooks.onError(error);
    }
  });
  const neverReached = () => undefined;
  for (const method of ROUTED) srf[method](neverReached);
}

/** drachtio-srf throws out of its socket's listener when it is told something unknown, which would end the process. */
function contain(srf: SrfApp, socket: Socket, onError: (error: unknown) => void): void {
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    try {
      srf.app.client.wp._onData(socket, chunk);
    } catch (error) {
      onError(error);
    }
  });
}

/** drachtio-srf can ping, but does not mind when nothing comes back. */
function keepAlive(
  srf: SrfApp,
  socket: Socket,
  clock: Clock,
  gone: Promise<string>,
  end: (reason: string) => void,
): void {
  const ping = () => {
    const { client } = srf.app;
    const id = client.wp.send(socket, 'ping');
    const late = clock.setTimer(() => end('it answers no more'), PONG_TIMEOUT_MS);
    timer = late;
    client.mapServer.get(socket)?.pendingRequests.set(id, () => {
      late.cancel();
      timer = clock.setTimer(ping, PING_INTERVAL_MS);
    });
  };
  let timer = clock.setTimer(ping, PING_INTERVAL_MS);
  gone.then(() => timer.cancel());
}
