import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import Srf from 'drachtio-srf';

/** What we use of drachtio-srf 5.0, in the shapes that it really has; its own types are wrong in places. */
export interface SrfApp extends EventEmitter {
  /** Sees every request, before any route. */
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

export interface SrfConnectOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  readonly tls?: ConnectionOptions;
  readonly reconnect: { readonly maxAttempts: number };
}

export interface SrfAgent {
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
  /** @throws {Error} For a status that drachtio-srf does not know. */
  send(
    status: number,
    reason: string | undefined,
    parts: { readonly headers: Record<string, string>; readonly body?: string },
    onSent: (error: unknown, sent: { readonly raw?: string }) => void,
  ): void;
}

/** Acknowledges a final answer to INVITE, or (by PRACK) a reliable provisional one. */
export type SrfAcknowledge = (options?: { headers?: Record<string, string>; body?: string }) => void;

/** @param tag - A server keeps the calls of an application that comes back with the same one. */
export function createSrf(tag: string): SrfApp {
  return new (Srf as unknown as new (tags: string[]) => SrfApp)([tag]);
}
