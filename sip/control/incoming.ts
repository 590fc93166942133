import { SipParseError } from '../message/errors.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../message/message.ts';
import { tagOf } from '../message/nameAddr.ts';
import { makeResponse, type ResponseParts } from '../message/respond.ts';
import { parseCSeq } from '../message/sequence.ts';
import type { ServerTransaction } from '../transaction/server.ts';
import type { Incoming } from '../transport/types.ts';
import type { Owner } from './apps.ts';
import { nameDialog, usualDialogId } from './books.ts';
import { type Hub, type Leg, type Pending, sightingOf } from './hub.ts';
import { latch, removeLeg } from './leg.ts';
import { nowhere, sipLine } from './lines.ts';
import { forwardAck, forwardInDialog, isProxied, type ProxyBook } from './proxyDialogs.ts';
import { refuseInDialog, refuseNew, refuseUnwanted } from './refuse.ts';
import { stopReliable } from './reliable.ts';

/** Answers a request without asking anybody. */
export function answer(
  hub: Hub,
  transaction: ServerTransaction,
  status: number,
  parts: ResponseParts = {},
): SipResponse {
  const response = makeResponse(transaction.request, status, { toTag: hub.ids.token(), ...parts });
  transaction.respond(response);
  hub.counters.count(`answered.${status}`);
  return response;
}

/** Takes every request from the network but ACK. */
export function onRequest(
  hub: Hub,
  book: ProxyBook,
  transaction: ServerTransaction,
  incoming: Incoming,
): void {
  try {
    dispatch(hub, book, transaction, incoming);
  } catch (error) {
    if (!(error instanceof SipParseError)) throw error;
    answer(hub, transaction, 400, { reason: `Bad Request - ${error.message}` });
  }
}

function dispatch(hub: Hub, book: ProxyBook, transaction: ServerTransaction, incoming: Incoming): void {
  const { request } = transaction;
  const toTag = tagOf(request.headers.get('to'));
  if (request.method === 'CANCEL') onCancel(hub, transaction);
  else if (isProxied(book, request)) forwardInDialog(hub, book, transaction);
  else if (toTag !== undefined) onInDialog(hub, transaction, incoming);
  else onNew(hub, transaction, incoming);
}

/** Takes every ACK that acknowledges a 2xx. */
export function onAck(hub: Hub, book: ProxyBook, ack: SipRequest, incoming: Incoming): void {
  const leg = legOf(hub, ack);
  const waiting = leg?.answer;
  if (!leg || !waiting || parseCSeq(ack.headers.get('cseq') ?? '').sequence !== waiting.sequence) {
    if (!leg && isProxied(book, ack)) forwardAck(hub, ack);
    else hub.counters.count('dropped.stray_ack');
    return;
  }
  waiting.repeating.stop();
  leg.answer = undefined;
  const sighting = { ...sightingOf(hub, incoming.flow.remote, incoming.lengthBytes), protocol: '' };
  const transactionId = waiting.isFirst ? waiting.transactionId : hub.ids.uuid();
  const line = { source: 'network', sighting, transactionId, dialogId: leg.id } as const;
  leg.owner.send(sipLine(hub.ids.uuid(), line, formatMessage(ack)));
}

function onNew(hub: Hub, transaction: ServerTransaction, incoming: Incoming): void {
  const { request } = transaction;
  const refusal = refuseNew(hub, request, incoming.flow);
  if (refusal) {
    answer(hub, transaction, refusal.status, refusal);
    return;
  }
  const owner = hub.apps.choose(request.method.toLowerCase());
  if (!owner) {
    const unwanted = refuseUnwanted(hub, request);
    answer(hub, transaction, unwanted.status, unwanted);
    return;
  }
  if (request.method === 'INVITE') {
    transaction.respond(makeResponse(request, 100));
    hub.announceCdr({ verb: 'cdr:attempt', source: 'network', message: request });
  }
  deliver(hub, addPending(hub, transaction, owner, undefined), incoming);
}

/** The dialog that a request of the network belongs to. @see RFC 3261 section 12.2.2 */
function legOf(hub: Hub, { headers }: SipRequest): Leg | undefined {
  const [localTag = '', remoteTag = ''] = [tagOf(headers.get('to')), tagOf(headers.get('from'))];
  return hub.legs.byTags(headers.get('call-id') ?? '', localTag, remoteTag);
}

function onInDialog(hub: Hub, transaction: ServerTransaction, incoming: Incoming): void {
  const { request } = transaction;
  const leg = legOf(hub, request);
  if (!leg) {
    answer(hub, transaction, 481);
    return;
  }
  const refusal = refuseInDialog(hub, leg, request);
  if (refusal) {
    answer(hub, transaction, refusal.status, refusal);
    return;
  }
  latch(leg, request, incoming.flow);
  if (request.method === 'INVITE') transaction.respond(makeResponse(request, 100));
  const pending = addPending(hub, transaction, leg.owner, leg);
  if (request.method === 'INVITE') leg.incomingInvite = pending;
  if (request.method === 'BYE') onBye(hub, leg, request);
  deliver(hub, pending, incoming);
}

/** The dialog ends at once, and with it an INVITE that still waits in it. @see RFC 3261 section 15.1.2 */
function onBye(hub: Hub, leg: Leg, bye: SipRequest): void {
  const waiting = leg.incomingInvite;
  removeLeg(hub, leg);
  if (waiting && waiting.transaction.status < 200) {
    answer(hub, waiting.transaction, 487, { toTag: waiting.toTag });
    dropPending(hub, waiting);
  }
  if (leg.kind === 'INVITE') {
    hub.announceCdr({ verb: 'cdr:stop', source: 'network', detail: 'normal-release', message: bye });
  }
}

function onCancel(hub: Hub, transaction: ServerTransaction): void {
  const invite = hub.transactions.inviteOf(transaction.request);
  if (!invite) {
    answer(hub, transaction, 481);
    return;
  }
  const pending = hub.pending.byTransaction(invite);
  // The same tag as on the INVITE's answers. RFC 3261 section 9.2
  const toTag = pending?.toTag ?? invite.toTag;
  answer(hub, transaction, 200, toTag === undefined ? {} : { toTag });
  if (!pending || invite.status >= 200) return;
  if (pending.proxy) {
    pending.proxy.cancel();
    return;
  }
  const hadAnswered = invite.status > 100;
  answer(hub, invite, 487, { toTag: pending.toTag });
  hub.announceCdr({ verb: 'cdr:stop', source: 'network', detail: 'call-canceled', message: invite.request });
  if (pending.leg && !pending.leg.confirmed) removeLeg(hub, pending.leg);
  dropPending(hub, pending);
  const sighting = sightingOf(
    hub,
    transaction.flow.remote,
    hadAnswered ? invite.lengthBytes : transaction.lengthBytes,
  );
  const dialogId = hadAnswered || pending.leg ? pending.dialogId : '';
  const line = { source: 'network', sighting, transactionId: pending.id, dialogId } as const;
  pending.owner.send(sipLine(hub.ids.uuid(), line, formatMessage(transaction.request)));
}

function addPending(hub: Hub, transaction: ServerTransaction, owner: Owner, leg: Leg | undefined): Pending {
  const { request } = transaction;
  const isInvite = request.method === 'INVITE';
  const limitMs = isInvite ? hub.times.firstAnswerMs : hub.times.requestAnswerMs;
  const pending: Pending = {
    id: hub.ids.uuid(),
    transaction,
    owner,
    toTag: tagOf(request.headers.get('to')) ?? hub.ids.token(),
    dialogId: leg?.id ?? nameDialog(hub, 'uas', request),
    leg,
    limit: hub.clock.setTimer(() => giveUp(hub, pending), limitMs),
    reminder: undefined,
    proxy: undefined,
    reliable: { nextNumber: 1 + Math.floor(Math.random() * MAX_FIRST_RSEQ), current: undefined, waiting: [] },
  };
  hub.pending.add(pending);
  return pending;
}

/** @see RFC 3262 section 3: the first RSeq is below 2^31 */
const MAX_FIRST_RSEQ = 2 ** 31 - 2;

/** Sends a provisional answer, and sends it again while nothing newer is said. */
export function sendProvisional(hub: Hub, pending: Pending, response: SipResponse): void {
  pending.transaction.respond(response);
  pending.reminder?.cancel();
  if (response.status === 100 || pending.transaction.request.method !== 'INVITE') return;
  const again = () => sendProvisional(hub, pending, response);
  pending.reminder = hub.clock.setTimer(again, hub.times.provisionalMs);
}

/** The application had something to say, but not for ever. */
export function extendPending(hub: Hub, pending: Pending): void {
  pending.limit.cancel();
  pending.limit = hub.clock.setTimer(() => giveUp(hub, pending), hub.times.finalAnswerMs);
}

/** The request is answered; the application can say nothing more to it. Idempotent. */
export function dropPending(hub: Hub, pending: Pending): void {
  pending.limit.cancel();
  pending.reminder?.cancel();
  stopReliable(pending, pending.leg);
  if (pending.leg?.incomingInvite === pending) pending.leg.incomingInvite = undefined;
  hub.pending.remove(pending);
}

/** Answers in the place of an application that does not, so that no caller waits in vain. */
export function giveUp(hub: Hub, pending: Pending, status = 480): void {
  if (hub.pending.byId(pending.id) !== pending) return;
  const { transaction } = pending;
  hub.counters.count('requests.unanswered');
  pending.proxy?.cancel();
  const isBye = transaction.request.method === 'BYE';
  if (transaction.status < 200) answer(hub, transaction, isBye ? 200 : status, { toTag: pending.toTag });
  if (transaction.request.method === 'INVITE') {
    const detail = 'system-error-initiated-termination';
    hub.announceCdr({ verb: 'cdr:stop', source: 'application', detail, message: transaction.request });
  }
  if (pending.leg && !pending.leg.confirmed) removeLeg(hub, pending.leg);
  dropPending(hub, pending);
}

function deliver(hub: Hub, pending: Pending, incoming: Incoming): void {
  const { request } = pending.transaction;
  const sighting = sightingOf(hub, incoming.flow.remote, incoming.lengthBytes);
  // A dialog that begins has no name on the wire to applications yet, unless they could not guess it.
  const isNew = pending.leg === undefined;
  const dialogId = isNew && pending.dialogId === usualDialogId(request) ? '' : pending.dialogId;
  const line = { source: 'network', sighting, transactionId: pending.id, dialogId } as const;
  const local = { ...incoming.flow.local, address: hub.transport.advertised(incoming.flow).host };
  const shown = isNew ? { ...line, receivedOn: local } : line;
  pending.owner.send(sipLine(hub.ids.uuid(), shown, formatMessage(request)));
}

/** Shows an application the answer to one of its requests; without `incoming`, one that the server made up. */
export function deliverResponse(
  hub: Hub,
  to: { owner: Owner; transactionId: string; dialogId: string },
  response: SipResponse,
  incoming: Incoming | undefined,
): void {
  const sighting = incoming
    ? sightingOf(hub, incoming.flow.remote, incoming.lengthBytes)
    : nowhere(hub.clock.now());
  const line = {
    source: 'network',
    sighting,
    transactionId: to.transactionId,
    dialogId: to.dialogId,
  } as const;
  to.owner.send(sipLine(hub.ids.uuid(), line, formatMessage(response)));
}
