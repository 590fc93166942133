import { createDialogRequest } from '../../dialog/dialogState.ts';
import { formatReason } from '../../message/fields/reason.ts';
import { formatMessage, type SipRequest } from '../../message/message.ts';
import type { Flow } from '../../transport/types.ts';
import { type Core, type Dialog, messageMeta, type PendingAck } from '../core.ts';
import { formatSipMessage, UNSOLICITED } from '../protocol/messages.ts';
import { resolveDialogTarget, runInOrder, sendServerRequest } from './routing.ts';

/** Creates a dialog. */
export function addDialog(
  core: Core,
  parts: Pick<Dialog, 'id' | 'role' | 'kind' | 'application' | 'lastFlow' | 'state'>,
): Dialog {
  const dialog: Dialog = {
    ...parts,
    confirmed: false,
    natFlow: undefined,
    unacknowledged2xx: undefined,
    pendingAck: undefined,
    lateRack: undefined,
    incomingInvite: undefined,
    outgoingInvite: undefined,
    localBody: undefined,
    peerAllowsUpdate: false,
    sessionTimer: undefined,
    endAfterAck: false,
    sending: undefined,
  };
  core.dialogs.add(dialog);
  return dialog;
}

/** Removes a dialog and stops its timers. Idempotent. */
export function removeDialog(core: Core, dialog: Dialog): void {
  dialog.unacknowledged2xx?.retransmission.stop();
  dialog.unacknowledged2xx = undefined;
  dialog.pendingAck?.limit?.cancel();
  dialog.sessionTimer?.timer.cancel();
  dialog.sessionTimer = undefined;
  const { outgoingInvite } = dialog;
  if (outgoingInvite)
    outgoingInvite.earlyDialogs = outgoingInvite.earlyDialogs.filter((one) => one !== dialog);
  core.dialogs.remove(dialog);
}

/** Sends BYE for the server, and an unsolicited BYE with the reason to the application. */
export function terminateDialog(core: Core, dialog: Dialog, cause: number, why: string): void {
  const bye = createDialogRequest(dialog.state, 'BYE');
  bye.headers.add('reason', formatReason({ protocol: 'SIP', cause, text: why }));
  removeDialog(core, dialog);
  sendServerRequest(core, dialog, bye);
  core.counters.count('dialogs.ended_by_server');
  const meta = messageMeta(core, dialog.lastFlow.local, formatMessage(bye).length);
  const line = {
    source: 'application',
    meta: meta,
    transactionId: UNSOLICITED,
    dialogId: dialog.id,
  } as const;
  dialog.application.send(formatSipMessage(core.ids.uuid(), line, formatMessage(bye)));
  const detail = why === 'Session timer expired' ? 'session-expires' : 'system-initiated-termination';
  core.announceCdr({ verb: 'cdr:stop', source: 'application', detail, message: bye });
}

/** Sends ACK for a 2xx to our INVITE, and keeps it for retransmitted 2xx. */
export function sendAck(
  core: Core,
  dialog: Dialog,
  sequence: number,
  fill?: (ack: SipRequest) => void,
): SipRequest {
  const ack = createDialogRequest(dialog.state, 'ACK', sequence);
  fill?.(ack);
  dialog.pendingAck?.limit?.cancel();
  const sending: PendingAck = { sequence, request: ack, sent: undefined, limit: undefined };
  dialog.pendingAck = sending;
  const send = (flow: Flow, onError?: () => void) => {
    const copy = { ...ack, headers: ack.headers.clone() };
    sending.sent = { flow, text: core.transactions.sendWithoutTransaction(copy, flow, onError) };
  };
  // The peer's Contact may name a transport or a port that is closed.
  const sendToNeighbor = () => {
    dialog.natFlow = dialog.lastFlow;
    send(dialog.lastFlow);
  };
  runInOrder(
    dialog,
    () => resolveDialogTarget(core, dialog),
    ([target]) => {
      if (target) send(core.transport.flowTo(target), sendToNeighbor);
    },
    () => core.counters.count('requests.unroutable'),
  );
  return ack;
}

/** Sends the identical ACK again, with its branch. @see RFC 3261 section 13.2.2.4 */
export function retransmitAck({ sent }: PendingAck): void {
  sent?.flow.send(sent.text);
}
