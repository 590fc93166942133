import { readSipText, type SipText } from '../sip/message.ts';
import type { ControlConnection } from './connection.ts';
import type { RequestContext } from './incoming.ts';
import type { SrfAcknowledge, SrfRequest, SrfRequestOptions, SrfResponse } from './srf.ts';

export interface OutgoingRequest {
  readonly method: string;
  /** Left out inside a dialog: the SIP server knows the peer's. */
  readonly uri?: string;
  readonly dialogId?: string;
  /** Of the INVITE that a CANCEL is for. */
  readonly transactionId?: string;
  /** `sip:` URI of the next hop, when that is not where the URI leads. */
  readonly route?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ResponseHandlers {
  /** The request is on the wire; called before any answer is shown, which may come in the same moment. */
  onSent?(sent: SentRequest): void;
  /** Each answer that the SIP server shows, the final one last. */
  onResponse(response: SipResponse): void;
  /** The connection to the SIP server broke; no answer comes any more. */
  onConnectionLost(reason: string): void;
}

export interface SipResponse {
  readonly status: number;
  readonly reason: string;
  readonly text: SipText;
  /** False for one that the SIP server made up: nobody answered, or nobody could be reached. */
  readonly isFromPeer: boolean;
  readonly source: { readonly address: string; readonly port: number };
  /** ACK for a 2xx to INVITE, PRACK for a reliable provisional answer; else nothing. */
  acknowledge(parts?: { readonly headers?: Record<string, string>; readonly body?: string }): void;
}

export interface SentRequest {
  /** As it was on the wire. */
  readonly text: SipText;
  readonly uri: string;
  readonly transactionId: string;
}

/** There is no connection to the SIP server. */
export class ControlDownError extends Error {
  readonly code = 'control_down';
}

/** The SIP server does not send it, and says why. */
export class RequestRefusedError extends Error {
  readonly code = 'request_refused';
  /** The dialog is over. */
  readonly isDialogUnknown: boolean;

  constructor(reason: string) {
    super(reason);
    this.isDialogUnknown = /unable to find dialog/i.test(reason);
  }
}

export function sendRequest(
  session: ControlConnection | undefined,
  request: OutgoingRequest,
  handlers: ResponseHandlers,
  world: RequestContext,
): Promise<SentRequest> {
  return new Promise((resolve, reject) => {
    if (!session) return reject(new ControlDownError('there is no connection to the SIP server'));
    let isOpen = true;
    let isSent = false;
    const onSent = (error: Error | null, sent: SrfRequest) => {
      if (!isOpen) return;
      if (error) {
        close();
        return reject(new RequestRefusedError(error.message));
      }
      isSent = true;
      const text = readSipText(sent.raw ?? '');
      world.observe('out', text.raw, sent.protocol, '');
      sent.on('update', world.onUpdate);
      sent.on('response', (response: SrfResponse, acknowledge: SrfAcknowledge) => {
        if (response.status >= 200) close();
        handlers.onResponse(readResponse(response, acknowledge, world));
      });
      if (request.method === 'CANCEL') close();
      const onTheWire = { text, uri: sent.uri, transactionId: sent.stackTxnId };
      handlers.onSent?.(onTheWire);
      resolve(onTheWire);
    };
    const stopWatching = session.onGone((reason) => {
      isOpen = false;
      if (isSent) handlers.onConnectionLost(reason);
      else reject(new ControlDownError(reason));
    });
    const close = () => {
      isOpen = false;
      stopWatching();
    };
    try {
      session.request(optionsOf(request), onSent);
    } catch (error) {
      close();
      reject(new ControlDownError(error instanceof Error ? error.message : String(error)));
    }
  });
}

function optionsOf(request: OutgoingRequest): SrfRequestOptions {
  const { method, uri, dialogId, transactionId, route, headers, body } = request;
  return {
    method,
    headers: { ...headers },
    ...(uri === undefined ? {} : { uri }),
    ...(dialogId === undefined ? {} : { stackDialogId: dialogId }),
    ...(transactionId === undefined ? {} : { stackTxnId: transactionId }),
    ...(route === undefined ? {} : { proxy: route }),
    ...(body === undefined ? {} : { body }),
  };
}

function readResponse(
  response: SrfResponse,
  acknowledge: SrfAcknowledge,
  world: RequestContext,
): SipResponse {
  const { status, reason, source_address: address, source_port: port } = response;
  const text = readSipText(response.raw ?? '');
  const isFromPeer = address !== '';
  if (isFromPeer) world.observe('in', text.raw, response.protocol, `${address}:${port}`);
  return {
    status,
    reason,
    text,
    isFromPeer,
    source: { address, port },
    acknowledge(parts = {}) {
      try {
        acknowledge({ ...parts });
      } catch {
        // The connection broke just now; the SIP server acknowledges and hangs up by itself.
      }
    },
  };
}
