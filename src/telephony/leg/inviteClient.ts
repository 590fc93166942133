import { isIP } from 'node:net';
import type { SipControl } from '../control/control.ts';
import { RequestRefusedError, type SentRequest, type SipResponse } from '../control/outgoing.ts';
import { bracketed, readNameAddress, readUri } from '../sip/address.ts';
import type { Authenticator } from '../sip/digest.ts';
import { type SipText, splitValues } from '../sip/message.ts';
import { formatReason, type Q850Reason, readQ850 } from '../sip/q850.ts';
import { descriptionOf } from '../sip/sessionBody.ts';
import type { FailureResponse } from './inviteFailure.ts';

export interface InviteRequest {
  readonly uri: string;
  readonly route: string | undefined;
  /** With Call-ID, and From with its tag; without CSeq. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly dialogId: string;
  readonly followRedirects: boolean;
}

export interface InviteListener {
  /** The peer, or something before it, lives: any answer at all. */
  onAnyAnswer(): void;
  onRinging(sdp: string | undefined): void;
  /** ACK is sent. @param sdp - Of the 2xx. */
  onAccepted(sdp: string | undefined, answer: SipText): void;
  /** It became no call; after `cancel`, a 2xx too, which was hung up. */
  onRefused(refusal: FailureResponse): void;
  /** It could not be sent at all. */
  onFailed(error: unknown): void;
  /** The connection to the SIP server broke in between. */
  onLost(reason: string): void;
}

export interface InviteClient {
  /** Takes the INVITE back as soon as that can be done. Idempotent. */
  cancel(reason: Q850Reason): void;
}

/** @see RFC 3261 section 8.1.3.4: loops of redirections must end. */
const MAX_REDIRECTS = 5;
const FIRST_SESSION_SECONDS = 1800;
/** @see RFC 4028 section 5 */
const MIN_SESSION_SECONDS = 90;
const MAX_SESSION_SECONDS = 86_400;

/**
 * Carries one INVITE to its final answer: answers challenges, follows redirections, agrees to longer session timers,
 * acknowledges, and sees a cancellation through even when the call is taken at the same moment.
 */
export function startInvite(
  control: InviteControl,
  request: InviteRequest,
  authenticator: Authenticator,
  listener: InviteListener,
): InviteClient {
  const run = new InviteRun(control, request, authenticator, listener);
  run.attempt();
  return run;
}

type InviteControl = Pick<SipControl, 'request' | 'requestWhenConnected'>;

class InviteRun implements InviteClient {
  readonly #control: InviteControl;
  readonly #request: InviteRequest;
  readonly #authenticator: Authenticator;
  readonly #listener: InviteListener;
  #uri: string;
  #route: string | undefined;
  #sequence = 0;
  #redirects = 0;
  #session = { seconds: FIRST_SESSION_SECONDS, minimum: MIN_SESSION_SECONDS };
  #credentials: Record<string, string> = {};
  /** The INVITE that is under way; undefined until it is on the wire. */
  #sent: SentRequest | undefined;
  #canceled: Q850Reason | undefined;
  #isOver = false;

  constructor(
    control: InviteControl,
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

  attempt(): void {
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
      onResponse: (response: SipResponse) => this.#onResponse(response),
      onConnectionLost: (reason: string) => this.#onLost(reason),
    };
    this.#control
      .request({ method: 'INVITE', uri: this.#uri, headers, body: this.#request.body, ...route }, handlers)
      .catch((error: unknown) => this.#onFailed(error));
  }

  cancel(reason: Q850Reason): void {
    if (this.#isOver || this.#canceled) return;
    this.#canceled = reason;
    this.#sendCancel(reason);
  }

  #onSent(sent: SentRequest): void {
    this.#sent = sent;
    if (this.#canceled) this.#sendCancel(this.#canceled);
  }

  #onFailed(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.onFailed(error);
  }

  #onLost(reason: string): void {
    this.#isOver = true;
    // The SIP server may be there still, and with it the ringing; it is to end.
    if (this.#sent) this.#control.requestWhenConnected(cancelOf(this.#sent, this.#canceled));
    this.#listener.onLost(reason);
  }

  #sendCancel(reason: Q850Reason): void {
    // It is refused when the final answer is there already, which then tells the rest.
    if (this.#sent) this.#control.request(cancelOf(this.#sent, reason), DEAF).catch(() => undefined);
  }

  #onResponse(response: SipResponse): void {
    if (response.isFromPeer) this.#listener.onAnyAnswer();
    if (response.status < 200) this.#onProvisional(response);
    else if (response.status < 300) this.#onSuccess(response);
    else if (!this.#canceled && this.#mayTryAgain(response)) this.attempt();
    else {
      this.#isOver = true;
      this.#listener.onRefused(refusalOf(response));
    }
  }

  #onProvisional(response: SipResponse): void {
    if (response.status === 100) return;
    response.acknowledge();
    if (this.#canceled || response.status < 180 || response.status === 199) return;
    this.#listener.onRinging(sdpOf(response));
  }

  #onSuccess(response: SipResponse): void {
    this.#isOver = true;
    response.acknowledge({ headers: this.#credentials });
    if (!this.#canceled) {
      this.#listener.onAccepted(sdpOf(response), response.text);
      return;
    }
    // Whoever sees that the two crossed hangs up; the SIP server may have done it already.
    const headers = { Reason: formatReason(this.#canceled) };
    const bye = { method: 'BYE', dialogId: this.#request.dialogId, headers };
    this.#control.request(bye, DEAF).catch(() => undefined);
    this.#listener.onRefused(refusalOf(response));
  }

  #mayTryAgain(response: SipResponse): boolean {
    if (response.status === 401 || response.status === 407) return this.#authenticate(response);
    if (response.status === 422) return this.#lengthenSession(response);
    return response.status < 400 && this.#redirect(response);
  }

  #authenticate(response: SipResponse): boolean {
    if (!this.#sent) return false;
    const challenged = { method: 'INVITE', uri: this.#sent.uri, body: this.#request.body };
    const answer = this.#authenticator.answer(response.text, challenged);
    if (!answer) return false;
    this.#credentials = answer;
    this.#route = pinned(this.#route ?? this.#uri, response.source) ?? this.#route;
    return true;
  }

  #lengthenSession(response: SipResponse): boolean {
    const minimum = Number.parseInt(response.text.header('min-se') ?? '', 10);
    if (!(minimum > this.#session.minimum && minimum <= MAX_SESSION_SECONDS)) return false;
    this.#session = { seconds: Math.max(this.#session.seconds, minimum), minimum };
    return true;
  }

  #redirect(response: SipResponse): boolean {
    const target = this.#request.followRedirects ? firstContact(response) : undefined;
    if (target === undefined || this.#redirects >= MAX_REDIRECTS) return false;
    this.#redirects += 1;
    this.#uri = target;
    this.#route = this.#request.route;
    return true;
  }
}

const DEAF = { onResponse: () => undefined, onConnectionLost: () => undefined };

/** What SIP servers say of requests that are at fault themselves; they say anything of hosts. */
const OUR_FAULT =
  /^(?:can not send request to myself|requested protocol|invalid (?:request|message)|missing )/i;

/** Whether the SIP server knew no way to the host, as opposed to a request that it would not send. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof RequestRefusedError && !OUR_FAULT.test(error.message);
}

function cancelOf(sent: SentRequest, reason: Q850Reason | undefined) {
  const { uri, transactionId } = sent;
  const headers: Record<string, string> = reason ? { Reason: formatReason(reason) } : {};
  return { method: 'CANCEL', uri, transactionId, headers };
}

function refusalOf({ status, reason, text, isFromPeer }: SipResponse): FailureResponse {
  return { status, reason, q850Cause: readQ850(text.headers('reason')), isFromPeer };
}

function sdpOf({ text }: SipResponse): string | undefined {
  return descriptionOf(text) || undefined;
}

/** A challenge is answered to the very server that made it, of the many that a host name may stand for. */
function pinned(nextHop: string, source: { address: string; port: number }): string | undefined {
  const hop = readUri(nextHop);
  if (!hop || isIP(hop.host) > 0 || isIP(source.address) === 0) return undefined;
  const { transport } = hop.parameters;
  const parameter = transport === undefined ? '' : `;transport=${transport}`;
  return `${hop.scheme}:${bracketed(source.address)}:${source.port}${parameter}`;
}

/** Of several contacts the one that the peer likes best. @see RFC 3261 section 20.10 */
function firstContact(response: SipResponse): string | undefined {
  const contacts = response.text
    .headers('contact')
    .flatMap(splitValues)
    .flatMap((value) => {
      const contact = readNameAddress(value);
      const uri = contact && readUri(contact.uri);
      if (!contact || !uri || uri.scheme === 'tel' || uri.headers !== '') return [];
      const weight = Number.parseFloat(contact.parameters.q ?? '1');
      return [{ uri: contact.uri, weight: Number.isFinite(weight) ? weight : 1 }];
    });
  return contacts.sort((one, other) => other.weight - one.weight)[0]?.uri;
}
