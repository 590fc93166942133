import type { EventEmitter } from 'node:events';
import Srf from 'drachtio-srf';

/** The parts of drachtio-srf used by tests, in their actual shapes; its own types lack some. */
export interface SrfRequest extends EventEmitter {
  readonly method: string;
  readonly uri: string;
  readonly body: string;
  readonly source_address: string;
  readonly protocol: string;
  get(name: string): string;
  cancel(options?: { headers: Record<string, string> }): void;
  proxy(options: Record<string, unknown>): Promise<ProxyResult>;
}

export interface ProxyResult {
  readonly connected: boolean;
  readonly finalStatus: number;
  readonly responses: readonly { readonly msgs: readonly { readonly status: number }[] }[];
}

export interface SrfResponse {
  readonly status: number;
  readonly reason: string;
  readonly body: string;
  get(name: string): string;
  send(
    status: number,
    options?: { headers?: Record<string, string>; body?: string },
    onSent?: (error: unknown) => void,
    onAcknowledged?: () => void,
  ): void;
}

export interface SrfDialog extends EventEmitter {
  readonly id: string;
  readonly local: { readonly sdp: string };
  readonly remote: { readonly sdp: string };
  modify(sdp: string): Promise<string>;
  request(options: { method: string; headers?: Record<string, string>; body?: string }): Promise<SrfResponse>;
  destroy(options?: { headers?: Record<string, string> }): Promise<unknown>;
}

type Handler = (request: SrfRequest, response: SrfResponse) => void;

export interface SrfApp extends EventEmitter {
  invite(handler: Handler): void;
  options(handler: Handler): void;
  register(handler: Handler): void;
  message(handler: Handler): void;
  subscribe(handler: Handler): void;
  connect(options: Record<string, unknown>): void;
  disconnect(): void;
  createUAS(request: SrfRequest, response: SrfResponse, options: Record<string, unknown>): Promise<SrfDialog>;
  createUAC(
    uri: string,
    options: Record<string, unknown>,
    progress?: {
      cbRequest?: (error: unknown, request: SrfRequest) => void;
      cbProvisional?: (response: SrfResponse) => void;
    },
  ): Promise<SrfDialog>;
  request(
    uri: string,
    options: Record<string, unknown>,
    callback: (error: Error | null, request: SrfRequest) => void,
  ): void;
}

export function newApp(tags: readonly string[] = []): SrfApp {
  return new Srf([...tags]) as unknown as SrfApp;
}
