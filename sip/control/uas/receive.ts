import { SipParseError } from '../../message/errors.ts';
import { tagOf } from '../../message/fields/nameAddr.ts';
import { parseCSeq } from '../../message/fields/sequence.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../../message/message.ts';
import { makeResponse, type ResponseParts } from '../../message/response.ts';
import type { ServerTransaction } from '../../transaction/server.ts';
import type { ReceivedMessage } from '../../transport/types.ts';
import { type Core, type Dialog, type IncomingRequest, messageMeta } from '../core.ts';
import { removeDialog } from '../dialogs/dialog.ts';
import { assignDialogId, defaultDialogId } from '../dialogs/dialogTable.ts';
import { updateNatFlow } from '../dialogs/routing.ts';
import type { Application } from '../protocol/applications.ts';
import { formatSipMessage, generatedMeta } from '../protocol/messages.ts';
import { forwardAck, forwardInDialog, isProxied, type ProxiedDialogs } from '../proxy/recordRoute.ts';
import { rejectInDialogRequest, rejectNewRequest, rejectUnroutedMethod } from './reject.ts';
import { endReliable } from './reliableProvisional.ts';

/** Responds without the application. */
export function respondWith(
  core: Core,
  transaction: ServerTransaction,
  status: number,
  parts: ResponseParts = {},
): SipResponse {
  const response = makeResponse(transaction.request, status, { toTag: core.ids.token(), ...parts });
  transaction.respond(response);
  core.counters.count(`answered.${status}`);
  return response;
}

/** Handles each request from the network, except ACK. */
export function onRequest(
  core: Core,
  proxied: ProxiedDialogs,
  transaction: ServerTransaction,
  received: ReceivedMessage,
): void {
  try {
    dispatch(core, proxied, transaction, received);
  } catch (error) {
    if (!(error instanceof SipParseError)) throw error;
    respondWith(core, transaction, 400, { reason: `Bad Request - ${error.message}` });
  }
}

function dispatch(
  core: Core,
  proxied: ProxiedDialogs,
  transaction: ServerTransaction,
  received: ReceivedMessage,
): void {
  const { request } = transaction;
  const toTag = tagOf(request.headers.get('to'));
  if (request.method === 'CANCEL') onCancel(core, transaction);
  else if (isProxied(proxied, request)) forwardInDialog(core, proxied, transaction);
  else if (toTag !== undefined) onInDialog(core, transaction, received);
  else onNew(core, transaction, received);
}

/** Handles each ACK to a 2xx. */
export function onAck(core: Core, proxied: ProxiedDialogs, ack: SipRequest, received: ReceivedMessage): void {
  const dialog = legOf(core, ack);
  const waiting = dialog?.unacknowledged2xx;
  if (!dialog || !waiting || parseCSeq(ack.headers.get('cseq') ?? '').sequence !== waiting.sequence) {
    if (!dialog && isProxied(proxied, ack)) forwardAck(core, ack);
    else core.counters.count('dropped.stray_ack');
    return;
  }
  waiting.retransmission.stop();
  dialog.unacknowledged2xx = undefined;
  const meta = { ...messageMeta(core, received.flow.remote, received.lengthBytes), protocol: '' };
  const transactionId = waiting.isFirst ? waiting.transactionId : core.ids.uuid();
  const line = { source: 'network', meta, transactionId, dialogId: dialog.id } as const;
  dialog.application.send(formatSipMessage(core.ids.uuid(), line, formatMessage(ack)));
}

function onNew(core: Core, transaction: ServerTransaction, received: ReceivedMessage): void {
  const { request } = transaction;
  const refusal = rejectNewRequest(core, request, received.flow);
  if (refusal) {
    core.onRefused?.(request, refusal.status, received.flow);
    respondWith(core, transaction, refusal.status, refusal);
    return;
  }
  const application = core.applications.selectForRoute(request.method.toLowerCase());
  if (!application) {
    const unwanted = rejectUnroutedMethod(core, request);
    core.onRefused?.(request, unwanted.status, received.flow);
    respondWith(core, transaction, unwanted.status, unwanted);
    return;
  }
  if (request.method === 'INVITE') {
    transaction.respond(makeResponse(request, 100));
    core.announceCdr({ verb: 'cdr:attempt', source: 'network', message: request });
  }
  deliver(core, addPending(core, transaction, application, undefined), received);
}

/** The dialog of a request from the network. @see RFC 3261 section 12.2.2 */
function legOf(core: Core, { headers }: SipRequest): Dialog | undefined {
  const [localTag = '', remoteTag = ''] = [tagOf(headers.get('to')), tagOf(headers.get('from'))];
  return core.dialogs.byTags(headers.get('call-id') ?? '', localTag, remoteTag);
}

function onInDialog(core: Core, transaction: ServerTransaction, received: ReceivedMessage): void {
  const { request } = transaction;
  const dialog = legOf(core, request);
  if (!dialog) {
    respondWith(core, transaction, 481);
    return;
  }
  const refusal = rejectInDialogRequest(core, dialog, request);
  if (refusal) {
    respondWith(core, transaction, refusal.status, refusal);
    return;
  }
  updateNatFlow(dialog, request, received.flow);
  if (request.method === 'INVITE') transaction.respond(makeResponse(request, 100));
  const incoming = addPending(core, transaction, dialog.application, dialog);
  if (request.method === 'INVITE') dialog.incomingInvite = incoming;
  if (request.method === 'BYE') onBye(core, dialog, request);
  deliver(core, incoming, received);
}

/** Ends the dialog at once, and a pending INVITE in it. @see RFC 3261 section 15.1.2 */
function onBye(core: Core, dialog: Dialog, bye: SipRequest): void {
  const waiting = dialog.incomingInvite;
  removeDialog(core, dialog);
  if (waiting && waiting.transaction.status < 200) {
    respondWith(core, waiting.transaction, 487, { toTag: waiting.toTag });
    removeIncomingRequest(core, waiting);
  }
  if (dialog.kind === 'INVITE') {
    core.announceCdr({ verb: 'cdr:stop', source: 'network', detail: 'normal-release', message: bye });
  }
}

function onCancel(core: Core, transaction: ServerTransaction): void {
  const invite = core.transactions.inviteOf(transaction.request);
  if (!invite) {
    respondWith(core, transaction, 481);
    return;
  }
  const incoming = core.incomingRequests.byTransaction(invite);
  // The tag of the responses to the INVITE. RFC 3261 section 9.2
  const toTag = incoming?.toTag ?? invite.toTag;
  respondWith(core, transaction, 200, toTag === undefined ? {} : { toTag });
  if (!incoming || invite.status >= 200) return;
  if (incoming.proxy) {
    incoming.proxy.cancel();
    return;
  }
  const hadAnswered = invite.status > 100;
  respondWith(core, invite, 487, { toTag: incoming.toTag });
  core.announceCdr({ verb: 'cdr:stop', source: 'network', detail: 'call-canceled', message: invite.request });
  if (incoming.dialog && !incoming.dialog.confirmed) removeDialog(core, incoming.dialog);
  removeIncomingRequest(core, incoming);
  const meta = messageMeta(
    core,
    transaction.flow.remote,
    hadAnswered ? invite.lengthBytes : transaction.lengthBytes,
  );
  const dialogId = hadAnswered || incoming.dialog ? incoming.dialogId : '';
  const line = { source: 'network', meta, transactionId: incoming.id, dialogId } as const;
  incoming.application.send(formatSipMessage(core.ids.uuid(), line, formatMessage(transaction.request)));
}

function addPending(
  core: Core,
  transaction: ServerTransaction,
  application: Application,
  dialog: Dialog | undefined,
): IncomingRequest {
  const { request } = transaction;
  const isInvite = request.method === 'INVITE';
  const limitMs = isInvite ? core.times.firstAnswerMs : core.times.requestAnswerMs;
  const incoming: IncomingRequest = {
    id: core.ids.uuid(),
    transaction,
    application,
    toTag: tagOf(request.headers.get('to')) ?? core.ids.token(),
    dialogId: dialog?.id ?? assignDialogId(core, 'uas', request),
    dialog,
    answerTimeout: core.clock.setTimer(() => answerForApplication(core, incoming), limitMs),
    provisionalRefresh: undefined,
    proxy: undefined,
    reliable: { nextNumber: 1 + Math.floor(Math.random() * MAX_FIRST_RSEQ), current: undefined, waiting: [] },
  };
  core.incomingRequests.add(incoming);
  return incoming;
}

/** The first RSeq must be below 2^31. @see RFC 3262 section 3 */
const MAX_FIRST_RSEQ = 2 ** 31 - 2;

/** Sends a provisional response, and repeats it until another response. @see RFC 3261 section 13.3.1.1 */
export function sendProvisional(core: Core, incoming: IncomingRequest, response: SipResponse): void {
  incoming.transaction.respond(response);
  incoming.provisionalRefresh?.cancel();
  if (response.status === 100 || incoming.transaction.request.method !== 'INVITE') return;
  const again = () => sendProvisional(core, incoming, response);
  incoming.provisionalRefresh = core.clock.setTimer(again, core.times.provisionalMs);
}

/** Extends the application's time to answer after a provisional response. */
export function extendAnswerTimeout(core: Core, incoming: IncomingRequest): void {
  incoming.answerTimeout.cancel();
  incoming.answerTimeout = core.clock.setTimer(
    () => answerForApplication(core, incoming),
    core.times.finalAnswerMs,
  );
}

/** Forgets a request with a final response. Idempotent. */
export function removeIncomingRequest(core: Core, incoming: IncomingRequest): void {
  incoming.answerTimeout.cancel();
  incoming.provisionalRefresh?.cancel();
  endReliable(incoming, incoming.dialog);
  if (incoming.dialog?.incomingInvite === incoming) incoming.dialog.incomingInvite = undefined;
  core.incomingRequests.remove(incoming);
}

/** Sends the final response that the application does not send. */
export function answerForApplication(core: Core, incoming: IncomingRequest, status = 480): void {
  if (core.incomingRequests.byId(incoming.id) !== incoming) return;
  const { transaction } = incoming;
  core.counters.count('requests.unanswered');
  incoming.proxy?.cancel();
  const isBye = transaction.request.method === 'BYE';
  if (transaction.status < 200)
    respondWith(core, transaction, isBye ? 200 : status, { toTag: incoming.toTag });
  if (transaction.request.method === 'INVITE') {
    const detail = 'system-error-initiated-termination';
    core.announceCdr({ verb: 'cdr:stop', source: 'application', detail, message: transaction.request });
  }
  if (incoming.dialog && !incoming.dialog.confirmed) removeDialog(core, incoming.dialog);
  removeIncomingRequest(core, incoming);
}

function deliver(core: Core, incoming: IncomingRequest, received: ReceivedMessage): void {
  const { request } = incoming.transaction;
  const meta = messageMeta(core, received.flow.remote, received.lengthBytes);
  // A new request carries a dialog id only where it is not the default one.
  const isNew = incoming.dialog === undefined;
  const dialogId = isNew && incoming.dialogId === defaultDialogId(request) ? '' : incoming.dialogId;
  const line = { source: 'network', meta, transactionId: incoming.id, dialogId } as const;
  const local = { ...received.flow.local, address: core.transport.advertised(received.flow).host };
  const shown = isNew ? { ...line, receivedOn: local } : line;
  incoming.application.send(formatSipMessage(core.ids.uuid(), shown, formatMessage(request)));
}

/** Delivers a response to an application; without `received`, one that the server generated. */
export function deliverResponse(
  core: Core,
  to: { application: Application; transactionId: string; dialogId: string },
  response: SipResponse,
  received: ReceivedMessage | undefined,
): void {
  const meta = received
    ? messageMeta(core, received.flow.remote, received.lengthBytes)
    : generatedMeta(core.clock.now());
  const line = {
    source: 'network',
    meta,
    transactionId: to.transactionId,
    dialogId: to.dialogId,
  } as const;
  to.application.send(formatSipMessage(core.ids.uuid(), line, formatMessage(response)));
}
