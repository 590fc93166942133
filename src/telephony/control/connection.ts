import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { SipParseError } from '../../../sip/message/errors.ts';
import { SipHeaders } from '../../../sip/message/headers.ts';
import type { SipMessage, SipResponse } from '../../../sip/message/message.ts';
import { parseText } from '../../../sip/message/parse.ts';
import type { Clock } from '../../base/values/clock.ts';
import {
  createSrf,
  guardSocket,
  type SrfAcknowledge,
  type SrfApp,
  type SrfRequest,
  type SrfRequestOptions,
  type SrfResponse,
  startPings,
} from './srf.ts';

/** The control port of a SIP server. */
export interface ControlTarget {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  readonly tls?: ConnectionOptions;
}

export interface OutgoingRequest {
  readonly method: string;
  /** Omitted inside a dialog: the SIP server knows the remote target. */
  readonly uri?: string;
  readonly dialogId?: string;
  /** The transaction's id. A CANCEL has that of its INVITE. */
  readonly transactionId?: string;
  /** `sip:` URI of the next hop, when it differs from the Request-URI. */
  readonly route?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ResponseHandlers {
  /** The request is on the wire; called before any response, which may follow in the same tick. */
  onSent?(sent: SentRequest): void;
  /** Each response, the final one last. */
  onResponse(response: ReceivedResponse): void;
  /** The connection to the SIP server is lost; no response follows. */
  onConnectionLost(reason: string): void;
}

export interface ReceivedResponse {
  readonly message: SipResponse;
  /** False when the SIP server generated the response, because the peer did not respond or is unreachable. */
  readonly isFromPeer: boolean;
  readonly source: { readonly address: string; readonly port: number };
  /** Sends ACK for a 2xx to INVITE, PRACK for a reliable provisional response; otherwise does nothing. */
  acknowledge(parts?: { readonly headers?: Record<string, string>; readonly body?: string }): void;
}

export interface SentRequest {
  /** The Request-URI as sent on the wire. */
  readonly uri: string;
  readonly transactionId: string;
  /** Our Contact, as on the wire. */
  readonly contact?: string | undefined;
}

/** There is no connection to the SIP server. */
export class ControlDownError extends Error {
  readonly code = 'control_down';
}

/** The SIP server refused to send the request; the message is the server's. */
export class RequestRefusedError extends Error {
  readonly code = 'request_refused';
  /** True when the dialog no longer exists. */
  readonly isDialogUnknown: boolean;

  constructor(reason: string) {
    super(reason);
    this.isDialogUnknown = /unable to find dialog/i.test(reason);
  }
}

export interface ConnectionHooks {
  readonly onRequest: (request: SrfRequest, response: SrfResponse) => void;
  /** An UPDATE while another request of the call is pending: drachtio-srf emits it on that request only. */
  readonly onUpdate: (request: SrfRequest, response: SrfResponse) => void;
  readonly observe: ObserveMessage;
  /** An internal error while a message was handled; the connection is closed. */
  readonly onError: (error: unknown) => void;
}

/** @param remote - `address:port` of the peer; '' when unknown. */
export type ObserveMessage = (
  direction: 'in' | 'out',
  message: SipMessage,
  raw: string,
  peer: { readonly transport: string; readonly remote: string },
) => void;

/** The time to connect, authenticate and register the routes. */
const OPEN_TIMEOUT_MS = 10_000;

/**
 * A connection to a SIP server. Each one has its own drachtio-srf, which never reconnects: its own reconnection retries
 * every 260 ms after a wrong secret, falls back from TLS to plain TCP, and registers its routes twice.
 */
export class ControlConnection {
  /** The addresses at which the server listens for SIP, such as `udp/192.0.2.1:5060`. */
  endpoints: readonly string[] = [];
  /** The version, such as `v0.9.9`. */
  version = '';
  /** Resolves with the reason; nothing is received afterwards. */
  readonly closed: Promise<string>;
  readonly #srf: SrfApp;
  readonly #hooks: ConnectionHooks;
  readonly #closeListeners = new Set<(reason: string) => void>();
  #socket: Socket | undefined;
  #isClosed = false;

  private constructor(tag: string, hooks: ConnectionHooks) {
    this.#hooks = hooks;
    this.#srf = createSrf(tag, (request, response) => {
      try {
        hooks.onRequest(request, response);
      } catch (error) {
        hooks.onError(error);
      }
    });
    this.closed = new Promise((resolve) => this.#onClosed(resolve));
  }

  /**
   * Connects and authenticates.
   *
   * @param signal - Closes the connection when it is aborted.
   * @throws {Error} When the server cannot be reached or refuses the secret, or the signal is aborted before.
   */
  static open(
    target: ControlTarget,
    tag: string,
    hooks: ConnectionHooks,
    clock: Clock,
    signal: AbortSignal,
  ): Promise<ControlConnection> {
    const connection = new ControlConnection(tag, hooks);
    const close = () => connection.#end('closed');
    signal.addEventListener('abort', close, { once: true });
    connection.#onClosed(() => signal.removeEventListener('abort', close));
    return new Promise((resolve, reject) => {
      const timeout = clock.setTimer(() => connection.#end('no answer in time'), OPEN_TIMEOUT_MS);
      connection.#onClosed((reason) => {
        timeout.cancel();
        reject(new Error(reason));
      });
      connection.#connect(target, clock, () => {
        timeout.cancel();
        resolve(connection);
      });
    });
  }

  /**
   * Sends a request.
   *
   * @throws {ControlDownError} When the connection is lost before the request is sent.
   * @throws {RequestRefusedError}
   */
  send(outgoing: OutgoingRequest, handlers: ResponseHandlers): Promise<SentRequest> {
    return new Promise((resolve, reject) => {
      let isPending = true;
      let isSent = false;
      const settle = () => {
        isPending = false;
        stopListening();
      };
      const stopListening = this.#onClosed((reason) => {
        isPending = false;
        if (isSent) handlers.onConnectionLost(reason);
        else reject(new ControlDownError(reason));
      });
      const onSent = (error: Error | null, request: SrfRequest) => {
        if (!isPending) return;
        if (error) {
          settle();
          return reject(new RequestRefusedError(error.message));
        }
        isSent = true;
        const message = this.#observeSent(request);
        request.on('update', this.#hooks.onUpdate);
        request.on('response', (response: SrfResponse, acknowledge: SrfAcknowledge) => {
          if (response.status >= 200) settle();
          handlers.onResponse(this.#readResponse(response, acknowledge));
        });
        if (outgoing.method === 'CANCEL') settle();
        const contact = message?.headers.get('contact');
        const sent = { uri: request.uri, transactionId: request.stackTxnId, contact };
        handlers.onSent?.(sent);
        resolve(sent);
      };
      try {
        if (this.#isClosed) throw new Error('the connection to the SIP server is closed');
        this.#srf.app.client.request(optionsOf(outgoing), onSent);
      } catch (error) {
        settle();
        reject(new ControlDownError(error instanceof Error ? error.message : String(error)));
      }
    });
  }

  #connect(target: ControlTarget, clock: Clock, onAuthenticated: () => void): void {
    const srf = this.#srf;
    srf.on('error', (error: Error) => this.#end(error.message));
    srf.on('close', () => this.#end('connection closed by the SIP server'));
    srf.on('connect', (error: Error | null, endpoints = '', version = '') => {
      if (error || !this.#socket) return this.#end('secret refused');
      this.endpoints = String(endpoints).split(',').filter(Boolean);
      this.version = String(version);
      this.#onClosed(startPings(srf, this.#socket, clock, () => this.#end('ping timeout')));
      onAuthenticated();
    });
    srf.connect({ ...target, reconnect: { maxAttempts: 1 } });
    srf.app.client.wp.on('connect', (socket: Socket) => {
      this.#socket = socket;
      if (this.#isClosed) socket.destroy();
      else
        guardSocket(srf, socket, (error) => {
          this.#hooks.onError(error);
          this.#end('invalid message from the SIP server');
        });
    });
  }

  #end(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket?.destroy();
    for (const listener of this.#closeListeners) listener(reason);
    this.#closeListeners.clear();
  }

  #onClosed(listener: (reason: string) => void): () => void {
    this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  #observeSent({ raw = '', protocol }: SrfRequest): SipMessage | undefined {
    const message = unlessMalformed(raw);
    if (message) this.#hooks.observe('out', message, raw, { transport: protocol, remote: '' });
    return message;
  }

  #readResponse(response: SrfResponse, acknowledge: SrfAcknowledge): ReceivedResponse {
    const { raw = '', status, reason, source_address: address, source_port: port } = response;
    const parsed = unlessMalformed(raw);
    const headers = parsed?.headers ?? new SipHeaders();
    const message: SipResponse = { kind: 'response', status, reason, headers, body: parsed?.body ?? '' };
    const isFromPeer = address !== '';
    const peer = { transport: response.protocol, remote: `${address}:${port}` };
    if (isFromPeer) this.#hooks.observe('in', message, raw, peer);
    return {
      message,
      isFromPeer,
      source: { address, port },
      acknowledge(parts = {}) {
        try {
          acknowledge({ ...parts });
        } catch {
          // The connection was lost meanwhile; the SIP server acknowledges and hangs up by itself.
        }
      },
    };
  }
}

/** The SIP server has parsed the message before; where its parser is more tolerant, the headers are unknown here. */
function unlessMalformed(raw: string): SipMessage | undefined {
  try {
    return parseText(raw);
  } catch (error) {
    if (error instanceof SipParseError) return undefined;
    throw error;
  }
}

function optionsOf(request: OutgoingRequest): SrfRequestOptions {
  const { method, uri, dialogId, transactionId, route, headers, body } = request;
  return {
    method,
    headers: { ...headers },
    uri,
    stackDialogId: dialogId,
    stackTxnId: transactionId,
    proxy: route,
    body,
  };
}
