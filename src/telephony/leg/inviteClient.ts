import { isIP } from 'node:net';
import type { SipControl } from '../control/control.ts';
import { RequestRefusedError, type SentRequest, type SipResponse } from '../control/outgoing.ts';
import { bracketed, readNameAddress, readUri } from '../sip/address.ts';
import type { Authenticator } from '../sip/digest.ts';
import { splitValues } from '../sip/message.ts';
import { formatReason, type Q850Reason, readQ850 } from '../sip/reason.ts';
import type { Refusal } from './outcome.ts';

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
  onAccepted(sdp: string | undefined): void;
  /** It became no call; after `cancel`, a 2xx too, which was hung up. */
  onRefused(refusal: Refusal): void;
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
  control: Pick<SipControl, 'request' | 'requestLater'>,
  request: InviteRequest,
  authenticator: Authenticator,
  listener: InviteListener,
): InviteClient {
  let { uri, route } = request;
  let sequence = 0;
  let redirects = 0;
  let session = { seconds: FIRST_SESSION_SECONDS, minimum: MIN_SESSION_SECONDS };
  let credentials: Record<string, string> = {};
  let sent: SentRequest | undefined;
  let canceled: Q850Reason | undefined;
  let isOver = false;

  const attempt = () => {
    sequence += 1;
    sent = undefined;
    const headers = {
      ...request.headers,
      CSeq: `${sequence} INVITE`,
      'Session-Expires': String(session.seconds),
      'Min-SE': String(session.minimum),
      ...credentials,
    };
    const handlers = { onResponse, onLost };
    control
      .request({ method: 'INVITE', uri, headers, body: request.body, ...(route ? { route } : {}) }, handlers)
      .then(onSent, onFailed);
  };
  const onSent = (done: SentRequest) => {
    sent = done;
    if (canceled) sendCancel(canceled);
  };
  const onFailed = (error: unknown) => {
    if (isOver) return;
    isOver = true;
    listener.onFailed(error);
  };
  const onLost = (reason: string) => {
    isOver = true;
    // The SIP server may be there still, and with it the ringing; it is to end.
    if (sent) control.requestLater(cancelOf(sent, canceled));
    listener.onLost(reason);
  };
  const sendCancel = (reason: Q850Reason) => {
    // It is refused when the final answer is there already, which then tells the rest.
    if (sent) control.request(cancelOf(sent, reason), DEAF).catch(() => undefined);
  };

  const onResponse = (response: SipResponse) => {
    if (response.isFromPeer) listener.onAnyAnswer();
    if (response.status < 200) return onProvisional(response);
    if (response.status < 300) return onSuccess(response);
    if (!canceled && mayTryAgain(response)) return attempt();
    isOver = true;
    listener.onRefused(refusalOf(response));
  };
  const onProvisional = (response: SipResponse) => {
    if (response.status === 100) return;
    response.acknowledge();
    if (canceled || response.status < 180 || response.status === 199) return;
    listener.onRinging(sdpOf(response));
  };
  const onSuccess = (response: SipResponse) => {
    isOver = true;
    response.acknowledge({ headers: credentials });
    if (!canceled) return listener.onAccepted(sdpOf(response));
    // Whoever sees that the two crossed hangs up; the SIP server may have done it already.
    const bye = {
      method: 'BYE',
      dialogId: request.dialogId,
      headers: { Reason: formatReason(canceled) },
    };
    control.request(bye, DEAF).catch(() => undefined);
    listener.onRefused(refusalOf(response));
  };

  const mayTryAgain = (response: SipResponse): boolean => {
    if (response.status === 401 || response.status === 407) return authenticate(response);
    if (response.status === 422) return lengthenSession(response);
    return response.status < 400 && redirect(response);
  };
  const authenticate = (response: SipResponse): boolean => {
    if (!sent) return false;
    const answer = authenticator.answer(response.text, {
      method: 'INVITE',
      uri: sent.uri,
      body: request.body,
    });
    if (!answer) return false;
    credentials = answer;
    route = pinned(route ?? uri, response.source) ?? route;
    return true;
  };
  const lengthenSession = (response: SipResponse): boolean => {
    const minimum = Number.parseInt(response.text.header('min-se') ?? '', 10);
    if (!(minimum > session.minimum && minimum <= MAX_SESSION_SECONDS)) return false;
    session = { seconds: Math.max(session.seconds, minimum), minimum };
    return true;
  };
  const redirect = (response: SipResponse): boolean => {
    const target = request.followRedirects ? firstContact(response) : undefined;
    if (target === undefined || redirects >= MAX_REDIRECTS) return false;
    redirects += 1;
    uri = target;
    route = request.route;
    return true;
  };

  attempt();
  return {
    cancel(reason) {
      if (isOver || canceled) return;
      canceled = reason;
      if (sent) sendCancel(reason);
    },
  };
}

const DEAF = { onResponse: () => undefined, onLost: () => undefined };

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

function refusalOf({ status, reason, text, isFromPeer }: SipResponse): Refusal {
  return { status, reason, q850Cause: readQ850(text.headers('reason')), isFromPeer };
}

function sdpOf({ text }: SipResponse): string | undefined {
  const type = text.header('content-type') ?? '';
  return text.body !== '' && /^application\/sdp\b/i.test(type) ? text.body : undefined;
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
