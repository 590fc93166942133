import { isIP } from 'node:net';
import { bracketed, unbracketed } from '../../../sip/message/fields/uri.ts';
import type { SipResponse } from '../../../sip/message/message.ts';
import type { HangupReason } from '../../calls/telephony.ts';
import { type ReceivedResponse, RequestRefusedError, type SentRequest } from '../control/connection.ts';
import type { SipControl } from '../control/control.ts';
import type { Authenticator } from '../sip/authenticator.ts';
import { addressesOf, readUri } from '../sip/headerValues.ts';
import { formatQ850, q850CauseOf } from '../sip/q850.ts';
import { descriptionOf } from '../sip/sessionBody.ts';
import type { FailureResponse } from './inviteFailure.ts';

export interface InviteRequest {
  readonly uri: string;
  readonly route: string | undefined;
  /** The headers with Call-ID and the From tag, and without CSeq. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly dialogId: string;
  readonly followRedirects: boolean;
  /** Returns true when the peer may redirect the call to a URI. It is called for each target of a redirect. */
  readonly mayRedirectTo: (uri: string) => Promise<boolean>;
}

export interface InviteListener {
  /** Any response from the peer or a proxy before it. */
  onAnyResponse(): void;
  onRinging(sdp: string | undefined, response: SipResponse): void;
  /** Called after the ACK was sent. @param sdp - The body of the 2xx. */
  onAccepted(sdp: string | undefined, response: SipResponse): void;
  /** No call was established. After `cancel` this may be a 2xx, which was answered by BYE. */
  onRejected(response: FailureResponse): void;
  /** The INVITE could not be sent. */
  onSendError(error: unknown): void;
  /** The connection to the SIP server was lost meanwhile. */
  onConnectionLost(reason: string): void;
}

/** Bounds redirection loops. @see RFC 3261 section 8.1.3.4 */
const MAX_REDIRECTS = 5;
/** The time for which a carrier keeps a call whose node failed and did not restart. */
const FIRST_SESSION_SECONDS = 300;
/** @see RFC 4028 section 5 */
const MIN_SESSION_SECONDS = 90;
const MAX_SESSION_SECONDS = 86_400;
const IGNORED = { onResponse: () => undefined, onConnectionLost: () => undefined };
/** Refusals of the SIP server that concern the request itself; all others mean that the host is unreachable. */
const REQUEST_ERROR =
  /^(?:can not send request to myself|requested protocol|invalid (?:request|message)|missing )/i;

/**
 * The client of one INVITE up to its final response. It answers challenges, follows redirects, extends the session
 * interval on 422, sends ACK, and ends a call whose 2xx crosses the CANCEL.
 */
export class InviteClient {
  readonly #control: SipControl;
  readonly #request: InviteRequest;
  readonly #authenticator: Authenticator;
  readonly #listener: InviteListener;
  #uri: string;
  #route: string | undefined;
  #sequence = 0;
  #redirects = 0;
  #session = { seconds: FIRST_SESSION_SECONDS, minimum: MIN_SESSION_SECONDS };
  #credentials: Record<string, string> = {};
  /** Redirected to another host, which the credentials are not for. */
  #isElsewhere = false;
  /** The pending INVITE; undefined until it is on the wire. */
  #sent: SentRequest | undefined;
  #cancelReason: HangupReason | undefined;
  #isOver = false;

  constructor(
    control: SipControl,
    request: InviteRequest,
    authenticator: Authenticator,
    listener: InviteListener,
  ) {
    this.#control = control;
    this.#request = request;
    this.#authenticator = authenticator;
    this.#listener = listener;
    this.#uri = request.uri;
    this.#route = request.route;
  }

  /** Sends the INVITE; also used for each further attempt. */
  send(): void {
    this.#sequence += 1;
    this.#sent = undefined;
    const headers = {
      ...this.#request.headers,
      CSeq: `${this.#sequence} INVITE`,
      'Session-Expires': String(this.#session.seconds),
      'Min-SE': String(this.#session.minimum),
      ...this.#credentials,
    };
    const route = this.#route === undefined ? {} : { route: this.#route };
    const handlers = {
      onSent: (sent: SentRequest) => this.#onSent(sent),
      onResponse: (response: ReceivedResponse) => this.#onResponse(response),
      onConnectionLost: (reason: string) => this.#onConnectionLost(reason),
    };
    this.#control
      .request({ method: 'INVITE', uri: this.#uri, headers, body: this.#request.body, ...route }, handlers)
      .catch((error: unknown) => this.#onSendError(error));
  }

  /** Cancels the INVITE as soon as it is on the wire. Idempotent. */
  cancel(reason: HangupReason): void {
    if (this.#isOver || this.#cancelReason) return;
    this.#cancelReason = reason;
    this.#sendCancel(reason);
  }

  #onSent(sent: SentRequest): void {
    this.#sent = sent;
    if (this.#cancelReason) this.#sendCancel(this.#cancelReason);
  }

  #onSendError(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onSendError(error);
  }

  #onConnectionLost(reason: string): void {
    this.#isOver = true;
    // The SIP server may still run and the phone may still ring.
    if (this.#sent) this.#control.requestWhenConnected(cancelOf(this.#sent, this.#cancelReason));
    this.#listener.onConnectionLost(reason);
  }

  #sendCancel(reason: HangupReason): void {
    // The server refuses a CANCEL after the final response, which is handled on its own.
    if (this.#sent) this.#control.request(cancelOf(this.#sent, reason), IGNORED).catch(() => undefined);
  }

  #onResponse(response: ReceivedResponse): void {
    const { status } = response.message;
    if (response.isFromPeer) this.#listener.onAnyResponse();
    if (status < 200) this.#onProvisional(response);
    else if (status < 300) this.#onSuccess(response);
    else if (!this.#cancelReason && status < 400) void this.#redirect(response);
    else if (!this.#cancelReason && this.#prepareRetry(response)) this.send();
    else this.#reject(response);
  }

  #reject(response: ReceivedResponse): void {
    this.#isOver = true;
    this.#listener.onRejected(failureOf(response));
  }

  #onProvisional(response: ReceivedResponse): void {
    const { status } = response.message;
    if (status === 100) return;
    response.acknowledge();
    if (this.#cancelReason || status < 180 || status === 199) return;
    this.#listener.onRinging(sdpOf(response), response.message);
  }

  #onSuccess(response: ReceivedResponse): void {
    this.#isOver = true;
    response.acknowledge({ headers: this.#credentials });
    if (!this.#cancelReason) {
      this.#listener.onAccepted(sdpOf(response), response.message);
      return;
    }
    // The SIP server may have sent BYE as well.
    const headers = { Reason: formatQ850(this.#cancelReason) };
    const bye = { method: 'BYE', dialogId: this.#request.dialogId, headers };
    this.#control.request(bye, IGNORED).catch(() => undefined);
    this.#listener.onRejected(failureOf(response));
  }

  /** @returns True when another attempt may succeed. */
  #prepareRetry(response: ReceivedResponse): boolean {
    const { status } = response.message;
    if (status === 401 || status === 407) return this.#authenticate(response);
    return status === 422 && this.#extendSession(response.message);
  }

  #authenticate({ message, source }: ReceivedResponse): boolean {
    if (!this.#sent || this.#isElsewhere) return false;
    const challenged = { method: 'INVITE', uri: this.#sent.uri, body: this.#request.body };
    const credentials = this.#authenticator.answer(message, challenged);
    if (!credentials) return false;
    this.#credentials = credentials;
    this.#route = routeToSource(this.#route ?? this.#uri, source) ?? this.#route;
    return true;
  }

  #extendSession({ headers }: SipResponse): boolean {
    const minimum = Number.parseInt(headers.get('min-se') ?? '', 10);
    if (!(minimum > this.#session.minimum && minimum <= MAX_SESSION_SECONDS)) return false;
    this.#session = { seconds: Math.max(this.#session.seconds, minimum), minimum };
    return true;
  }

  /** Calls the preferred Contact of those that may be called. */
  async #redirect(response: ReceivedResponse): Promise<void> {
    const { followRedirects, mayRedirectTo } = this.#request;
    const mayFollow = followRedirects && this.#redirects < MAX_REDIRECTS;
    const targets = mayFollow ? contactsByPreference(response.message) : [];
    const target = await firstAllowed(targets, mayRedirectTo);
    // It may have been canceled meanwhile.
    if (target === undefined || this.#cancelReason) {
      this.#reject(response);
      return;
    }
    this.#redirects += 1;
    this.#uri = target;
    this.#route = this.#request.route;
    this.#isElsewhere = this.#route === undefined && hostOf(target) !== hostOf(this.#request.uri);
    if (this.#isElsewhere) this.#credentials = {};
    this.send();
  }
}

/**
 * Returns true when the SIP server found no route to the host. It returns false when the server refused the request
 * itself.
 */
export function isUnreachable(error: unknown): boolean {
  return error instanceof RequestRefusedError && !REQUEST_ERROR.test(error.message);
}

/** A target that cannot be asked about is not allowed. */
async function firstAllowed(
  targets: readonly string[],
  isAllowed: (uri: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const target of targets) if (await isAllowed(target).catch(() => false)) return target;
  return undefined;
}

function cancelOf({ uri, transactionId }: SentRequest, reason: HangupReason | undefined) {
  const headers: Record<string, string> = reason ? { Reason: formatQ850(reason) } : {};
  return { method: 'CANCEL', uri, transactionId, headers };
}

function failureOf({ message, isFromPeer }: ReceivedResponse): FailureResponse {
  const { status, reason } = message;
  return { status, reason, q850Cause: q850CauseOf(message), isFromPeer };
}

function sdpOf({ message }: ReceivedResponse): string | undefined {
  return descriptionOf(message) || undefined;
}

function hostOf(text: string): string | undefined {
  const uri = readUri(text);
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri.host.toLowerCase();
}

/** The server that sent the challenge, of those that a host name resolves to; only it knows the nonce. */
function routeToSource(nextHop: string, source: { address: string; port: number }): string | undefined {
  const hop = readUri(nextHop);
  if (hop?.scheme !== 'sip' && hop?.scheme !== 'sips') return undefined;
  if (isIP(unbracketed(hop.host)) > 0 || isIP(source.address) === 0) return undefined;
  const transport = hop.params.get('transport');
  const parameter = transport === undefined ? '' : `;transport=${transport}`;
  return `${hop.scheme}:${bracketed(source.address)}:${source.port}${parameter}`;
}

/** The Contacts, that with the highest `q` first. @see RFC 3261 section 20.10 */
function contactsByPreference({ headers }: SipResponse): string[] {
  const contacts = addressesOf(headers, 'contact').flatMap(({ uri: text, params }) => {
    const uri = readUri(text);
    if (!uri || uri.scheme === 'tel' || uri.headers) return [];
    const weight = Number.parseFloat(params.get('q') ?? '1');
    return [{ uri: text, weight: Number.isFinite(weight) ? weight : 1 }];
  });
  return contacts.sort((one, other) => other.weight - one.weight).map(({ uri }) => uri);
}
