import { createDialogRequest, dialogStateOfUac, routeSetOf } from '../../dialog/dialogState.ts';
import { hasToken } from '../../dialog/sessionTimer.ts';
import { tagOf } from '../../message/fields/nameAddr.ts';
import { parseRSeq } from '../../message/fields/sequence.ts';
import type { SipResponse } from '../../message/message.ts';
import type { ClientTransaction } from '../../transaction/client.ts';
import type { ReceivedMessage } from '../../transport/types.ts';
import type { Core, Dialog, OutgoingRequest } from '../core.ts';
import { addDialog, removeDialog, sendAck } from '../dialogs/dialog.ts';
import { sendServerRequest, updateCalleeNatFlow } from '../dialogs/routing.ts';
import type { Application } from '../protocol/applications.ts';

/** The most early dialogs, above what a forking proxy calls at once. */
const MAX_EARLY = 64;

/**
 * Returns true when a reliable response repeats an earlier one: its RSeq is not its callee's next one. @see RFC 3262
 * section 4
 */
export function isRetransmittedReliable(outgoing: OutgoingRequest, response: SipResponse): boolean {
  const rseq = response.headers.get('rseq');
  if (rseq === undefined || !hasToken(response.headers, 'require', '100rel')) return false;
  const number = parseRSeq(rseq);
  const tag = tagOf(response.headers.get('to')) ?? '';
  const last = outgoing.lastRSeqs.get(tag);
  if (last !== undefined && number !== last + 1) return true;
  outgoing.lastRSeqs.set(tag, number);
  return false;
}

/**
 * Creates an early dialog on the first response with a To tag, for PRACK and UPDATE; each callee of a forked INVITE
 * has its own.
 *
 * @returns False when there are too many callees.
 */
export function updateEarlyDialog(
  core: Core,
  outgoing: OutgoingRequest,
  response: SipResponse,
  received: ReceivedMessage,
): boolean {
  if (outgoing.dialog?.confirmed || outgoing.template.method !== 'INVITE') return true;
  const tag = tagOf(response.headers.get('to'));
  if (tag === undefined) return true;
  const known = outgoing.earlyDialogs.find(({ state }) => state.remoteTag === tag);
  if (!known && outgoing.earlyDialogs.length === MAX_EARLY) return false;
  outgoing.dialog = known ?? createDialogAsUac(core, outgoing, response, received);
  if (known) core.dialogs.add(known);
  else outgoing.earlyDialogs.push(outgoing.dialog);
  return true;
}

export function createDialogAsUac(
  core: Core,
  outgoing: OutgoingRequest,
  response: SipResponse,
  received: ReceivedMessage,
): Dialog {
  const { request } = outgoing.transaction;
  const dialog = addDialog(core, {
    id: outgoing.dialogId,
    role: 'uac',
    kind: request.method,
    application: outgoing.application,
    lastFlow: received.flow,
    state: dialogStateOfUac(request, response),
  });
  updateCalleeNatFlow(dialog, response, received.flow);
  const type = request.headers.get('content-type');
  if (request.body !== '' && type !== undefined) dialog.localBody = { type, body: request.body };
  if (request.method === 'INVITE') dialog.outgoingInvite = outgoing;
  return dialog;
}

/** Confirms the dialog of the 2xx, and ends the other early dialogs. @see RFC 3261 section 13.2.2.4 */
export function confirmDialog(
  core: Core,
  outgoing: OutgoingRequest,
  response: SipResponse,
  received: ReceivedMessage,
): Dialog {
  const tag = tagOf(response.headers.get('to')) ?? '';
  const early = outgoing.earlyDialogs.find(({ state }) => state.remoteTag === tag);
  for (const one of outgoing.earlyDialogs) if (one !== early) removeDialog(core, one);
  outgoing.earlyDialogs = [];
  if (!early) return createDialogAsUac(core, outgoing, response, received);
  early.state.routeSet = routeSetOf(response);
  core.dialogs.add(early);
  return early;
}

/** Sends ACK and BYE to a second callee that accepts the call. @see RFC 3261 section 13.2.2.4 */
export function rejectFork(
  core: Core,
  application: Application,
  transaction: ClientTransaction,
  response: SipResponse,
): void {
  core.counters.count('forks.refused');
  const state = dialogStateOfUac(transaction.request, response);
  const id = `${state.callId};fork=${state.remoteTag}`;
  const dialog = addDialog(core, {
    id,
    role: 'uac',
    kind: 'INVITE',
    application,
    lastFlow: transaction.flow,
    state,
  });
  removeDialog(core, dialog);
  sendAck(core, dialog, state.localSequence);
  sendServerRequest(core, dialog, createDialogRequest(state, 'BYE'));
}
