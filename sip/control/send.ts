import { dialogRequest } from '../dialog/dialog.ts';
import { addToken } from '../dialog/sessionTimer.ts';
import { SipHeaders } from '../message/headers.ts';
import { cloneRequest, formatMessage, type SipRequest } from '../message/message.ts';
import { parseNameAddr, tagOf, withTag } from '../message/nameAddr.ts';
import { parseCSeq, parseRAck } from '../message/sequence.ts';
import { parseSipOnly, parseUri, unbracketed } from '../message/uri.ts';
import type { Target } from '../transport/resolver.ts';
import type { Flow } from '../transport/types.ts';
import type { Owner } from './apps.ts';
import { nameDialog } from './books.ts';
import { localise, overlay, ownUri, reasonOf, typeBody } from './complete.ts';
import { type Hub, type Leg, type Sent, sightingOf } from './hub.ts';
import { endLeg, inOrder, locateLeg, sendAck } from './leg.ts';
import { nokLine, requestEcho } from './lines.ts';
import { launch } from './outgoing.ts';
import type { Command } from './session.ts';

/** Fixed by the dialog, whatever the application says. */
const FROM_DIALOG = new Set(['from', 'to', 'call-id', 'cseq']);
const NEEDS_CONTACT = new Set(['INVITE', 'SUBSCRIBE']);
const IN_DIALOG_CONTACT = new Set(['INVITE', 'SUBSCRIBE', 'REFER', 'UPDATE', 'NOTIFY']);
const FIRST_CSEQ = 1;

/** Sends a request outside of any dialog. */
export function sendNew(hub: Hub, owner: Owner, command: Command, sparse: SipRequest, route: string): void {
  const refuse = (why: string) => command.reply(nokLine(hub.ids.uuid(), command.id, why));
  const existing = dialogMeant(hub, sparse);
  if (existing) {
    sendInDialog(hub, owner, command, sparse, existing);
    return;
  }
  const startLine = `${sparse.method} ${sparse.uri} SIP/2.0`;
  if (!isRoutable(sparse.uri, route)) {
    refuse(`invalid request-uri: ${startLine}`);
    return;
  }
  if (!typeBody(sparse)) {
    refuse('missing content-type');
    return;
  }
  const nextHop = route === '' ? sparse.uri : stripBrackets(route);
  inOrder(
    undefined,
    () => hub.locate(parseSipOnly(nextHop)),
    (targets) => {
      const [target] = targets;
      if (!target) return refuse(`${nextHop} leads nowhere`);
      if (hub.transport.isSelf(target.address, target.port)) return refuse('can not send request to myself');
      const flow = flowOrUndefined(hub, target);
      if (!flow) return refuse('requested protocol/transport not available');
      const request = completeNew(hub, sparse, flow);
      start(hub, owner, command, { request, targets, leg: undefined });
    },
    (error) => refuse(reasonOf(error)),
  );
}

/** The dialog that a request means which names only its Call-ID, and perhaps its own tag. */
function dialogMeant(hub: Hub, { headers }: SipRequest): Leg | undefined {
  const tag = tagOf(headers.get('from'));
  return hub.legs
    .ofCall(headers.get('call-id') ?? '')
    .findLast(({ confirmed, dialog }) => confirmed && (tag === undefined || tag === dialog.localTag));
}

/** Sends a request, ACK and PRACK too, inside a dialog. @param named - By the application. */
export function sendInDialog(hub: Hub, owner: Owner, command: Command, sparse: SipRequest, named: Leg): void {
  const leg = sparse.method === 'PRACK' ? dialogOfPrack(named, sparse) : named;
  const refuse = (why: string) => command.reply(nokLine(hub.ids.uuid(), command.id, why));
  if (sparse.method === 'ACK') {
    acknowledge(hub, command, sparse, leg);
    return;
  }
  if (!typeBody(sparse)) {
    refuse('missing content-type');
    return;
  }
  if (sparse.method === 'INVITE' && leg.outgoingInvite) {
    refuse('an INVITE is already in progress');
    return;
  }
  if (sparse.method === 'BYE' && leg.outgoingInvite) cancelSent(hub, leg.outgoingInvite, []);
  inOrder(
    leg,
    () => locateLeg(hub, leg),
    (targets) => {
      const [target] = targets;
      const flow = target && flowOrUndefined(hub, target);
      if (!flow) return refuse('requested protocol/transport not available');
      start(hub, owner, command, { request: completeInDialog(hub, leg, sparse, flow), targets, leg });
    },
    (error) => refuse(reasonOf(error)),
  );
}

/** Early dialogs of one INVITE share their name; the number of the answer tells whose it was. */
function dialogOfPrack(named: Leg, { headers }: SipRequest): Leg {
  const sent = named.outgoingInvite;
  const rack = headers.get('rack');
  if (!sent || rack === undefined) return named;
  const { responseNumber } = parseRAck(rack);
  return sent.early.find(({ dialog }) => sent.reliable.get(dialog.remoteTag) === responseNumber) ?? named;
}

/** Withdraws an INVITE of the application's; at once, or when a first answer shows that the peer has it. */
export function sendCancel(hub: Hub, command: Command, sparse: SipRequest, transactionId: string): void {
  const sent = hub.sent.byId(transactionId);
  if (sent?.template.method !== 'INVITE' || sent.transaction.hasFinal) {
    command.reply(
      nokLine(hub.ids.uuid(), command.id, `unable to cancel unknown transaction id: ${transactionId}`),
    );
    return;
  }
  const headers = [...sparse.headers]
    .filter(([, , key]) => !NOT_IN_CANCEL.has(key))
    .map(([name, value]) => [name, value] as [string, string]);
  const echoed = cancelSent(hub, sent, headers);
  const seen = sightingOf(hub, sent.transaction.flow.local, echoed.length);
  command.reply(requestEcho(hub.ids.uuid(), command.id, seen, hub.ids.uuid(), echoed));
}

/** A CANCEL repeats the INVITE's own. @see RFC 3261 section 9.1 */
const NOT_IN_CANCEL = new Set('via from to call-id cseq route max-forwards content-length'.split(' '));

/** @returns The CANCEL as it goes out, now or later. */
export function cancelSent(hub: Hub, sent: Sent, headers: [string, string][]): string {
  sent.failover?.cancel();
  sent.targets = [];
  const first = !sent.canceled;
  sent.canceled ??= { headers, sent: false };
  if (first && sent.transaction.hasProvisional) {
    sent.canceled.sent = true;
    return hub.transactions.cancel(sent.transaction, headers).text;
  }
  const preview = cloneRequest({ ...sent.transaction.request, method: 'CANCEL', body: '' });
  const { sequence } = parseCSeq(preview.headers.get('cseq') ?? '');
  preview.headers.set('cseq', `${sequence} CANCEL`);
  for (const name of ['contact', 'content-type', 'supported', 'allow', 'session-expires'])
    preview.headers.remove(name);
  return formatMessage(preview);
}

function start(
  hub: Hub,
  owner: Owner,
  command: Command,
  parts: { request: SipRequest; targets: Target[]; leg: Leg | undefined },
): void {
  const { request, leg } = parts;
  const sent = launch(hub, { ...parts, owner, dialogId: leg?.id ?? nameDialog(hub, 'uac', request) });
  const { text, flow } = sent.transaction;
  const seen = sightingOf(
    hub,
    flow.reliable ? flow.remote : { ...flow.local, ...advertisedAs(hub, flow) },
    text.length,
  );
  command.reply(requestEcho(hub.ids.uuid(), command.id, seen, sent.id, text));
  if (request.method === 'INVITE' && !leg) {
    hub.announceCdr({ verb: 'cdr:attempt', source: 'application', message: request });
  }
}

function advertisedAs(hub: Hub, flow: Flow): { address: string; port: number } {
  const { host, port } = hub.transport.advertised(flow);
  return { address: host, port };
}

function completeNew(hub: Hub, sparse: SipRequest, flow: Flow): SipRequest {
  const headers = new SipHeaders();
  const own = ownUri(hub, flow);
  headers.add('max-forwards', '70');
  headers.add('from', `<${own}>`);
  headers.add('to', `<${sparse.uri}>`);
  headers.add('call-id', hub.ids.uuid());
  headers.add('cseq', `${FIRST_CSEQ} ${sparse.method}`);
  overlay(headers, sparse.headers, new Set());
  localise(hub, headers, flow);
  const from = headers.get('from') ?? '';
  parseNameAddr(from);
  parseNameAddr(headers.get('to') ?? '');
  if (tagOf(from) === undefined) headers.set('from', withTag(bracketUri(from), hub.ids.token()));
  const { sequence } = parseCSeq(headers.get('cseq') ?? '');
  headers.set('cseq', `${sequence} ${sparse.method}`);
  if (NEEDS_CONTACT.has(sparse.method)) headers.setDefault('contact', `<${own}>`);
  if (sparse.method === 'INVITE') addToken(headers, 'supported', 'timer');
  return { kind: 'request', method: sparse.method, uri: sparse.uri, headers, body: sparse.body };
}

function completeInDialog(hub: Hub, leg: Leg, sparse: SipRequest, flow: Flow): SipRequest {
  const asked = sparse.headers.get('cseq');
  const sequence =
    asked === undefined ? undefined : parseCSeq(`${asked.split(/\s+/)[0]} ${sparse.method}`).sequence;
  const fresh = sequence !== undefined && sequence > leg.dialog.localSequence ? sequence : undefined;
  const request = dialogRequest(leg.dialog, sparse.method, fresh);
  overlay(request.headers, sparse.headers, FROM_DIALOG);
  localise(hub, request.headers, flow);
  if (IN_DIALOG_CONTACT.has(sparse.method)) {
    request.headers.setDefault('contact', leg.dialog.localTarget || `<${ownUri(hub, flow)}>`);
  }
  const isRefresh = sparse.method === 'INVITE' || sparse.method === 'UPDATE';
  if (isRefresh && leg.session && !request.headers.has('session-expires')) {
    request.headers.add('session-expires', `${leg.session.intervalSeconds};refresher=uac`);
  }
  if (sparse.method === 'INVITE') addToken(request.headers, 'supported', 'timer');
  if (request.uri === leg.dialog.remoteTarget && !isPlaceholder(sparse.uri)) request.uri = sparse.uri;
  request.body = sparse.body;
  return request;
}

/** The application acknowledges a 2xx; an ACK for anything else was sent long before. */
function acknowledge(hub: Hub, command: Command, sparse: SipRequest, leg: Leg): void {
  const waiting = leg.ack;
  if (!waiting || waiting.request || !typeBody(sparse)) {
    command.reply(nokLine(hub.ids.uuid(), command.id, ACK_IS_OURS));
    return;
  }
  const ack = sendAck(hub, leg, waiting.sequence, (request) => {
    overlay(request.headers, sparse.headers, FROM_DIALOG);
    request.body = sparse.body;
  });
  const text = formatMessage(ack);
  command.reply(
    requestEcho(
      hub.ids.uuid(),
      command.id,
      sightingOf(hub, leg.peer.local, text.length),
      hub.ids.uuid(),
      text,
    ),
  );
  const type = ack.headers.get('content-type');
  if (ack.body !== '' && type !== undefined) leg.localBody = { type, body: ack.body };
  if (leg.endAfterAck) endLeg(hub, leg, 200, 'ACK-BYE due to cancel race condition');
}

/** What drachtio-server says to an ACK that it sends itself. */
export const ACK_IS_OURS =
  'Server error: ACK for non-success final response is automatically generated by server';

function isPlaceholder(uri: string): boolean {
  return uri === '' || uri === 'sip:placeholder';
}

function isRoutable(uri: string, route: string): boolean {
  try {
    if (route !== '') parseSipOnly(stripBrackets(route));
    const parsed = parseUri(uri);
    return parsed.scheme === 'sip' || parsed.scheme === 'sips' || (parsed.scheme === 'tel' && route !== '');
  } catch {
    // Whatever is wrong with it, it cannot be sent to.
    return false;
  }
}

function flowOrUndefined(hub: Hub, target: Target): Flow | undefined {
  try {
    return hub.transport.flowTo(target);
  } catch {
    // No socket of that transport; the caller says so.
    return undefined;
  }
}

function stripBrackets(route: string): string {
  return unbracketed(route.replace(/^<|>$/g, ''));
}

/** Without brackets the tag would look like a parameter of the URI. */
function bracketUri(value: string): string {
  if (value.includes('<')) return value;
  const semicolon = value.indexOf(';');
  return semicolon < 0
    ? `<${value.trim()}>`
    : `<${value.slice(0, semicolon).trim()}>${value.slice(semicolon)}`;
}
