import { dialogOfServer } from '../dialog/dialog.ts';
import { repeat } from '../dialog/repetition.ts';
import { answerTimer, hasToken } from '../dialog/sessionTimer.ts';
import { formatMessage, type SipResponse } from '../message/message.ts';
import { tagOf } from '../message/nameAddr.ts';
import { makeResponse } from '../message/respond.ts';
import { parseCSeq } from '../message/sequence.ts';
import { localise, overlay, ownUri, typeBody } from './complete.ts';
import { type Hub, type Leg, type Pending, sightingOf } from './hub.ts';
import { dropPending, extendPending, giveUp, sendProvisional } from './incoming.ts';
import { addLeg, endLeg, latch, removeLeg, watchSession } from './leg.ts';
import { nokLine, responseEcho } from './lines.ts';
import { offersReliable, sendReliable, whenAcknowledged } from './reliable.ts';
import type { Command } from './session.ts';

/** Copied from the request, whatever the application's copies say. */
const FROM_REQUEST = new Set(['from', 'to', 'call-id', 'cseq']);
const MAKES_DIALOG = new Set(['INVITE', 'SUBSCRIBE']);
/** Methods whose 2xx carries our Contact. @see RFC 3261 section 12.1.1, RFC 3311 section 5.2 */
const SHOWS_CONTACT = new Set(['INVITE', 'SUBSCRIBE', 'UPDATE']);

/** Sends an application's answer to a request from the network, and tells it how it went out. */
export function respond(hub: Hub, command: Command, transactionId: string, sparse: SipResponse): void {
  const refuse = (why: string) => command.reply(nokLine(hub.ids.uuid(), command.id, why));
  const pending = hub.pending.byId(transactionId);
  if (!pending || pending.proxy) {
    refuse('Response not sent due to unknown transaction');
    return;
  }
  const { request } = pending.transaction;
  const wantsReliable = request.method === 'INVITE' && isReliable(sparse);
  if (wantsReliable && !offersReliable(request)) {
    refuse('Remote endpoint does not support 100rel');
    return;
  }
  const response = completeResponse(hub, pending, sparse);
  if (!typeBody(response)) {
    refuse('missing content-type');
    return;
  }
  if (response.status > 100) noteDialog(hub, pending, response);
  const echo = (sent: SipResponse) => echoResponse(hub, command, pending, sent);
  if (wantsReliable) {
    extendPending(hub, pending);
    sendReliable(hub, pending, response, echo, () => giveUp(hub, pending, 504));
  } else if (response.status < 200) {
    extendPending(hub, pending);
    sendProvisional(hub, pending, response);
    echo(response);
  } else if (request.method === 'INVITE' && response.status < 300) {
    whenAcknowledged(pending, () => accept(hub, pending, response, echo));
  } else {
    refuseOrFinish(hub, pending, response);
    echo(response);
  }
}

function isReliable(response: SipResponse): boolean {
  return response.status > 100 && response.status < 200 && hasToken(response.headers, 'require', '100rel');
}

function completeResponse(hub: Hub, pending: Pending, sparse: SipResponse): SipResponse {
  const { request, flow } = pending.transaction;
  const chosenTag = tagOf(sparse.headers.get('to'));
  if (chosenTag !== undefined && tagOf(request.headers.get('to')) === undefined && !pending.leg) {
    pending.toTag = chosenTag;
  }
  const parts = sparse.reason === '' ? {} : { reason: sparse.reason };
  const tag = sparse.status === 100 ? {} : { toTag: pending.toTag };
  const response = makeResponse(request, sparse.status, { ...parts, ...tag });
  overlay(response.headers, sparse.headers, FROM_REQUEST);
  response.body = sparse.body;
  const isDialogAnswer = sparse.status > 100 && sparse.status < 300 && SHOWS_CONTACT.has(request.method);
  if (isDialogAnswer) response.headers.setDefault('contact', `<${ownUri(hub, flow)}>`);
  localise(hub, response.headers, flow);
  return response;
}

/** Keeps (or makes) the dialog that the answer belongs to. */
function noteDialog(hub: Hub, pending: Pending, response: SipResponse): void {
  const { request, flow } = pending.transaction;
  if (pending.leg || response.status >= 300 || !MAKES_DIALOG.has(request.method)) return;
  const dialog = dialogOfServer(request, response);
  pending.leg = addLeg(hub, {
    id: pending.dialogId,
    role: 'uas',
    kind: request.method,
    owner: pending.owner,
    peer: flow,
    dialog,
  });
  latch(pending.leg, request, flow);
  if (request.method === 'INVITE') pending.leg.incomingInvite = pending;
  if (request.method === 'SUBSCRIBE') pending.leg.confirmed = true;
  pending.leg.peerAllowsUpdate = hasToken(request.headers, 'allow', 'update');
}

/** Sends a 2xx to an INVITE again and again until its ACK comes; without one the call is ended. */
function accept(hub: Hub, pending: Pending, response: SipResponse, echo: (sent: SipResponse) => void): void {
  const { transaction, leg } = pending;
  if (!leg || transaction.status >= 200) return;
  const isFirst = !leg.confirmed;
  const timer = answerTimer(transaction.request, response.headers);
  transaction.respond(response);
  leg.confirmed = true;
  leg.dialog.localTarget = response.headers.get('contact') ?? leg.dialog.localTarget;
  noteBody(leg, response);
  const times = { t1Ms: hub.sipTimes.t1Ms, maxGapMs: hub.sipTimes.t2Ms };
  const repeating = repeat(hub.clock, times, {
    send: () => transaction.respond(response),
    giveUp: () => endLeg(hub, leg, 200, 'ACK timeout'),
  });
  const { sequence } = parseCSeq(transaction.request.headers.get('cseq') ?? '');
  leg.answer = { sequence, transactionId: pending.id, repeating, isFirst };
  watchSession(hub, leg, timer);
  dropPending(hub, pending);
  echo(response);
  if (isFirst)
    hub.announceCdr({ verb: 'cdr:start', source: 'application', detail: 'uas', message: response });
}

function refuseOrFinish(hub: Hub, pending: Pending, response: SipResponse): void {
  const { transaction, leg } = pending;
  const { method } = transaction.request;
  if (method === 'UPDATE' && response.status < 300 && leg) {
    watchSession(hub, leg, answerTimer(transaction.request, response.headers) ?? leg.session);
    leg.dialog.localTarget = response.headers.get('contact') ?? leg.dialog.localTarget;
    noteBody(leg, response);
  }
  transaction.respond(response);
  if (method === 'INVITE' && response.status >= 300 && !leg?.confirmed) {
    if (leg) removeLeg(hub, leg);
    hub.announceCdr({ verb: 'cdr:stop', source: 'application', detail: 'call-rejected', message: response });
  }
  dropPending(hub, pending);
}

function noteBody(leg: Leg, response: SipResponse): void {
  const type = response.headers.get('content-type');
  if (response.body !== '' && type !== undefined) leg.localBody = { type, body: response.body };
}

function echoResponse(hub: Hub, command: Command, pending: Pending, response: SipResponse): void {
  const text = formatMessage(response);
  const seen = sightingOf(hub, pending.transaction.flow.remote, text.length);
  const isGone = pending.transaction.request.method === 'BYE';
  const ids = { transactionId: pending.id, dialogId: isGone ? '' : pending.dialogId };
  command.reply(responseEcho(hub.ids.uuid(), command.id, seen, ids, text));
}
