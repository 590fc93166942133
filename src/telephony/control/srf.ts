import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import Srf from 'drachtio-srf';
import type { Clock } from '../../base/values/clock.ts';

/** The parts of drachtio-srf 5.0 in use, in their actual shapes; its own types are wrong in places. */
export interface SrfApp extends EventEmitter {
  /** Receives every request, before any route. */
  use(handler: (request: SrfRequest, response: SrfResponse) => void): void;
  invite(handler: () => void): void;
  options(handler: () => void): void;
  info(handler: () => void): void;
  message(handler: () => void): void;
  notify(handler: () => void): void;
  publish(handler: () => void): void;
  refer(handler: () => void): void;
  register(handler: () => void): void;
  subscribe(handler: () => void): void;
  connect(options: SrfConnectOptions): void;
  readonly app: { readonly client: SrfAgent };
}

interface SrfConnectOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  readonly tls?: ConnectionOptions;
  readonly reconnect: { readonly maxAttempts: number };
}

interface SrfAgent {
  request(options: SrfRequestOptions, onSent: (error: Error | null, request: SrfRequest) => void): void;
  readonly mapServer: Map<Socket, { readonly pendingRequests: Map<string, (tokens: string[]) => void> }>;
  readonly wp: EventEmitter & {
    send(socket: Socket, message: string): string;
    _onData(socket: Socket, chunk: Buffer): void;
  };
}

export interface SrfRequestOptions {
  readonly method: string;
  readonly uri?: string;
  readonly proxy?: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly stackDialogId?: string;
  readonly stackTxnId?: string;
}

interface SrfMessage {
  readonly raw?: string;
  readonly source: string;
  readonly source_address: string;
  readonly source_port: number;
  readonly protocol: string;
  readonly stackDialogId: string;
}

export interface SrfRequest extends SrfMessage, EventEmitter {
  readonly method: string;
  readonly uri: string;
  readonly stackTxnId: string;
}

export interface SrfResponse extends SrfMessage {
  readonly status: number;
  readonly reason: string;
  /** @throws {Error} When drachtio-srf does not know the status. */
  send(
    status: number,
    reason: string | undefined,
    parts: { readonly headers: Record<string, string>; readonly body?: string },
    onSent: (error: unknown, sent?: { readonly raw?: string }) => void,
  ): void;
}

/** Acknowledges a final response to INVITE or, by PRACK, a reliable provisional one. */
export type SrfAcknowledge = (options?: { headers?: Record<string, string>; body?: string }) => void;

const PING_INTERVAL_MS = 15_000;
/** A host that has crashed does not close its connections. */
const PONG_TIMEOUT_MS = 10_000;
/**
 * Every method that can arrive outside a dialog. Unsupported ones are rejected here; without a route the server sends
 * 503.
 */
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

/** @param tag - The server keeps the calls of an application that reconnects with the same tag. */
export function createSrf(
  tag: string,
  onRequest: (request: SrfRequest, response: SrfResponse) => void,
): SrfApp {
  const srf = new (Srf as unknown as new (tags: string[]) => SrfApp)([tag]);
  srf.use(onRequest);
  const neverReached = () => undefined;
  for (const method of ROUTED) srf[method](neverReached);
  return srf;
}

/** drachtio-srf throws from its socket listener on an unknown message, which would end the process. */
export function guardSocket(srf: SrfApp, socket: Socket, onError: (error: unknown) => void): void {
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    try {
      srf.app.client.wp._onData(socket, chunk);
    } catch (error) {
      onError(error);
    }
  });
}

/**
 * Pings the server; drachtio-srf can ping, but ignores a missing pong.
 *
 * @returns A function that stops the pings.
 */
export function startPings(srf: SrfApp, socket: Socket, clock: Clock, onPongTimeout: () => void): () => void {
  const { client } = srf.app;
  const ping = () => {
    const id = client.wp.send(socket, 'ping');
    timer = clock.setTimer(onPongTimeout, PONG_TIMEOUT_MS);
    client.mapServer.get(socket)?.pendingRequests.set(id, () => {
      timer.cancel();
      timer = clock.setTimer(ping, PING_INTERVAL_MS);
    });
  };
  let timer = clock.setTimer(ping, PING_INTERVAL_MS);
  return () => timer.cancel();
}
