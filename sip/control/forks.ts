import { dialogOfClient, dialogRequest, routeSetOf } from '../dialog/dialog.ts';
import { hasToken } from '../dialog/sessionTimer.ts';
import type { SipResponse } from '../message/message.ts';
import { tagOf } from '../message/nameAddr.ts';
import { parseRSeq } from '../message/sequence.ts';
import type { ClientTransaction } from '../transaction/client.ts';
import type { Incoming } from '../transport/types.ts';
import type { Owner } from './apps.ts';
import type { Hub, Leg, Sent } from './hub.ts';
import { addLeg, latchCallee, removeLeg, sendAck, sendOwn } from './leg.ts';

/** More phones than one number rings at the same time. */
const MAX_EARLY = 64;

/** Each callee numbers its reliable answers one after the other; one out of turn is repeated, or will be. @see RFC 3262 section 4 */
export function isRepeated(sent: Sent, response: SipResponse): boolean {
  const rseq = response.headers.get('rseq');
  if (rseq === undefined || !hasToken(response.headers, 'require', '100rel')) return false;
  const number = parseRSeq(rseq);
  const tag = tagOf(response.headers.get('to')) ?? '';
  const last = sent.reliable.get(tag);
  if (last !== undefined && number !== last + 1) return true;
  sent.reliable.set(tag, number);
  return false;
}

/**
 * A dialog begins with the first answer that has a tag, so that PRACK and UPDATE have one to live in; each callee of a
 * forked INVITE has its own.
 *
 * @returns False when there are more callees than anybody calls at once.
 */
export function noteEarly(hub: Hub, sent: Sent, response: SipResponse, incoming: Incoming): boolean {
  if (sent.leg?.confirmed || sent.template.method !== 'INVITE') return true;
  const tag = tagOf(response.headers.get('to'));
  if (tag === undefined) return true;
  const known = sent.early.find(({ dialog }) => dialog.remoteTag === tag);
  if (!known && sent.early.length === MAX_EARLY) return false;
  sent.leg = known ?? newLeg(hub, sent, response, incoming);
  if (known) hub.legs.add(known);
  else sent.early.push(sent.leg);
  return true;
}

export function newLeg(hub: Hub, sent: Sent, response: SipResponse, incoming: Incoming): Leg {
  const { request } = sent.transaction;
  const leg = addLeg(hub, {
    id: sent.dialogId,
    role: 'uac',
    kind: request.method,
    owner: sent.owner,
    peer: incoming.flow,
    dialog: dialogOfClient(request, response),
  });
  if (leg.dialog.remoteTarget.startsWith('sip')) latchCallee(leg, incoming.flow);
  const type = request.headers.get('content-type');
  if (request.body !== '' && type !== undefined) leg.localBody = { type, body: request.body };
  if (request.method === 'INVITE') leg.outgoingInvite = sent;
  return leg;
}

/** Of the early dialogs only that of the callee who took the call goes on. @see RFC 3261 section 13.2.2.4 */
export function beginDialog(hub: Hub, sent: Sent, response: SipResponse, incoming: Incoming): Leg {
  const tag = tagOf(response.headers.get('to')) ?? '';
  const early = sent.early.find(({ dialog }) => dialog.remoteTag === tag);
  for (const one of sent.early) if (one !== early) removeLeg(hub, one);
  sent.early = [];
  if (!early) return newLeg(hub, sent, response, incoming);
  early.dialog.routeSet = routeSetOf(response);
  hub.legs.add(early);
  return early;
}

/** A second callee took a call that is taken already (or was given up): thank you, and goodbye. */
export function refuseFork(
  hub: Hub,
  owner: Owner,
  transaction: ClientTransaction,
  response: SipResponse,
): void {
  hub.counters.count('forks.refused');
  const dialog = dialogOfClient(transaction.request, response);
  const id = `${dialog.callId};fork=${dialog.remoteTag}`;
  const leg = addLeg(hub, { id, role: 'uac', kind: 'INVITE', owner, peer: transaction.flow, dialog });
  removeLeg(hub, leg);
  sendAck(hub, leg, dialog.localSequence);
  sendOwn(hub, leg, dialogRequest(dialog, 'BYE'));
}
