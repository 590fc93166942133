import { SipParseError } from '../../../sip/message/errors.ts';
import type { SipRequest } from '../../../sip/message/message.ts';
import { sleep } from '../../base/async/sleep.ts';
import { createEmitter, type Emitter, type EventSource } from '../../base/emitter.ts';
import type { Clock } from '../../base/values/clock.ts';
import { type Backoff, backoffMs } from '../backoff.ts';
import {
  ControlConnection,
  ControlDownError,
  type ControlTarget,
  type ObserveMessage,
  type OutgoingRequest,
  type ResponseHandlers,
  type SentRequest,
} from './connection.ts';
import { type IncomingRequest, readIncoming } from './incoming.ts';
import type { SrfRequest, SrfResponse } from './srf.ts';

/** Sends and receives SIP through the embedded SIP server or a drachtio-server. */
export interface SipControl {
  readonly isConnected: boolean;
  readonly events: EventSource<ControlEvents>;
  /**
   * Sends a request.
   *
   * @throws {ControlDownError} When there is no connection, or it is lost before the request is sent.
   * @throws {RequestRefusedError} When the SIP server refuses to send it.
   */
  request(request: OutgoingRequest, handlers: ResponseHandlers): Promise<SentRequest>;
  /** Sends a request once there is a connection, or drops it after a minute. The result is not reported. */
  requestWhenConnected(request: OutgoingRequest): void;
  /** Receives the requests of one dialog until the returned function is called. */
  onDialogRequest(dialogId: string, handler: RequestHandler): () => void;
  /** Receives each INVITE outside a dialog. */
  onInvite(handler: RequestHandler): void;
  close(): Promise<void>;
}

export type RequestHandler = (request: IncomingRequest) => void;

export interface ControlEvents {
  readonly connected: { readonly endpoints: readonly string[]; readonly version: string };
  readonly disconnected: { readonly reason: string };
  /** Each SIP message, sent or received. */
  readonly message: ObservedMessage;
}

interface ObservedMessage {
  readonly atMs: number;
  readonly direction: 'in' | 'out';
  readonly transport: string;
  /** `address:port` of the peer; '' where the server does not report it. */
  readonly remote: string;
  readonly callId: string;
  readonly text: string;
}

export interface ControlOptions {
  /** Returns the server to connect to. It is called before each attempt; undefined means that there is none. */
  readonly target: () => ControlTarget | undefined;
  /** The server keeps the calls of an application that reconnects with the same tag. Up to 32 of `[a-zA-Z0-9-_]`. */
  readonly tag: string;
  readonly backoff?: Backoff;
  readonly clock: Clock;
  readonly random: () => number;
  /** An internal error, or a listener that threw. */
  readonly onError: (error: unknown, what: string) => void;
}

const DEFAULT_BACKOFF: Backoff = { firstMs: 250, maxMs: 30_000 };
/** A peer may keep a call open for this long without hearing from us. */
const QUEUED_REQUEST_TTL_MS = 60_000;
const MAX_QUEUED_REQUESTS = 10_000;
/** The supported methods, as sent in Allow. */
export const ALLOW = 'INVITE, ACK, BYE, CANCEL, OPTIONS, PRACK, UPDATE, INFO, REFER, NOTIFY';
/** Supported methods that need an existing call or subscription. */
const ONLY_IN_DIALOG = new Set(['INFO', 'NOTIFY', 'REFER']);

/** Returns true for a request that belongs to no subscription and only keeps NATs and firewalls open. */
export function isKeepAlive({ method, headers }: SipRequest): boolean {
  return method === 'NOTIFY' && /^\s*keep-?alive\b/i.test(headers.get('event') ?? '');
}

/** Connects, and reconnects until it is closed. */
export function connectControl(options: ControlOptions): SipControl {
  const control = new DrachtioControl(options);
  control.start();
  return control;
}

/** Resolves once there is a connection. */
export function untilConnected(control: SipControl): Promise<void> {
  if (control.isConnected) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = control.events.on('connected', () => {
      stop();
      resolve();
    });
  });
}

class DrachtioControl implements SipControl {
  readonly events: Emitter<ControlEvents>;
  readonly #options: ControlOptions;
  readonly #dialogHandlers = new Map<string, RequestHandler>();
  #inviteHandler: RequestHandler | undefined;
  #queue: { readonly request: OutgoingRequest; readonly expiresMs: number }[] = [];
  #connection: ControlConnection | undefined;
  #running: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();
  #failures = 0;

  constructor(options: ControlOptions) {
    this.#options = options;
    this.events = createEmitter((error, name) => options.onError(error, `a ${String(name)} listener threw`));
  }

  start(): void {
    this.#running = this.#run();
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  async request(request: OutgoingRequest, handlers: ResponseHandlers): Promise<SentRequest> {
    if (!this.#connection) throw new ControlDownError('there is no connection to the SIP server');
    return await this.#connection.send(request, handlers);
  }

  requestWhenConnected(request: OutgoingRequest): void {
    const expiresMs = this.#options.clock.monotonicMs() + QUEUED_REQUEST_TTL_MS;
    if (this.#queue.length < MAX_QUEUED_REQUESTS) this.#queue.push({ request, expiresMs });
    if (this.#connection) this.#sendQueued();
  }

  onDialogRequest(dialogId: string, handler: RequestHandler): () => void {
    this.#dialogHandlers.set(dialogId, handler);
    return () => {
      if (this.#dialogHandlers.get(dialogId) === handler) this.#dialogHandlers.delete(dialogId);
    };
  }

  onInvite(handler: RequestHandler): void {
    this.#inviteHandler = handler;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { backoff = DEFAULT_BACKOFF, clock, random } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const reason = await this.#connectOnce();
      if (signal.aborted) return;
      this.#failures += 1;
      if (this.#failures === 1) this.events.emit('disconnected', { reason });
      await sleep(clock, backoffMs(backoff, this.#failures, random()), signal).catch(() => undefined);
    }
  }

  /** @returns The reason, when the connection has ended or could not be made. */
  async #connectOnce(): Promise<string> {
    const { target, tag, clock, onError } = this.#options;
    const server = target();
    if (!server) return 'the SIP server is not running';
    const hooks = {
      observe: this.#observe,
      onRequest: this.#receive,
      onUpdate: this.#receive,
      onError: (error: unknown) => onError(error, 'handling a message of the SIP server failed'),
    };
    try {
      const connection = await ControlConnection.open(server, tag, hooks, clock, this.#closing.signal);
      this.#connection = connection;
      this.#failures = 0;
      const { endpoints, version } = connection;
      this.events.emit('connected', { endpoints, version });
      this.#sendQueued();
      return await connection.closed;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#connection = undefined;
    }
  }

  #sendQueued(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const due = this.#queue.filter(({ expiresMs }) => expiresMs > nowMs);
    this.#queue = [];
    const ignored = { onResponse: () => undefined, onConnectionLost: () => undefined };
    // The server may have ended the call as well; then it refuses the request.
    for (const { request } of due) this.request(request, ignored).catch(() => undefined);
  }

  readonly #observe: ObserveMessage = (direction, { headers }, text, peer) => {
    const callId = headers.get('call-id') ?? '';
    this.events.emit('message', { atMs: this.#options.clock.now(), direction, ...peer, callId, text });
  };

  readonly #receive = (request: SrfRequest, response: SrfResponse): void => {
    let incoming: IncomingRequest;
    try {
      incoming = readIncoming(request, response, { observe: this.#observe, onUpdate: this.#receive });
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      response.send(400, undefined, { headers: {} }, () => undefined);
      return;
    }
    const handler = this.#dialogHandlers.get(incoming.dialogId);
    if (handler) handler(incoming);
    else if (incoming.message.method === 'INVITE' && incoming.isNew && this.#inviteHandler) {
      this.#inviteHandler(incoming);
    } else {
      rejectStray(incoming).catch((error: unknown) =>
        this.#options.onError(error, 'responding to a request failed'),
      );
    }
  };
}

/** Responds to a request that belongs to no call. */
async function rejectStray(request: IncomingRequest): Promise<unknown> {
  const { method } = request.message;
  if (method === 'ACK' || request.isFromServer) return undefined;
  if (method === 'PRACK') return await request.respond(200);
  if (!request.isNew) return await request.respond(481);
  if (isKeepAlive(request.message)) return await request.respond(200);
  if (method === 'OPTIONS') {
    const headers = { Allow: ALLOW, Accept: 'application/sdp', Supported: 'timer' };
    return await request.respond(200, { headers });
  }
  if (method === 'INVITE') return await request.respond(503, { headers: { 'Retry-After': '5' } });
  if (ONLY_IN_DIALOG.has(method)) return await request.respond(481);
  return await request.respond(405, { headers: { Allow: ALLOW } });
}
