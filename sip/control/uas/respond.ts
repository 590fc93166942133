import { dialogStateOfUas } from '../../dialog/dialogState.ts';
import { startRetransmission } from '../../dialog/retransmission.ts';
import { hasToken, negotiateAsUas } from '../../dialog/sessionTimer.ts';
import { tagOf } from '../../message/fields/nameAddr.ts';
import { parseCSeq } from '../../message/fields/sequence.ts';
import { formatMessage, type SipResponse } from '../../message/message.ts';
import { makeResponse } from '../../message/response.ts';
import {
  bracketAddresses,
  ensureContentType,
  overlayHeaders,
  ownUri,
  replaceLocalhost,
} from '../applicationMessage.ts';
import { type Core, type Dialog, type IncomingRequest, messageMeta } from '../core.ts';
import { addDialog, removeDialog, terminateDialog } from '../dialogs/dialog.ts';
import { updateNatFlow } from '../dialogs/routing.ts';
import { startSessionTimer } from '../dialogs/sessionRefresh.ts';
import type { Command } from '../protocol/connection.ts';
import { formatNok, formatResponseSent } from '../protocol/messages.ts';
import {
  answerForApplication,
  extendAnswerTimeout,
  removeIncomingRequest,
  sendProvisional,
} from './receive.ts';
import { sendReliable, supportsReliable, whenAcknowledged } from './reliableProvisional.ts';

/** Copied from the request; the application's copies are ignored. */
const FROM_REQUEST = new Set(['from', 'to', 'call-id', 'cseq']);
const MAKES_DIALOG = new Set(['INVITE', 'SUBSCRIBE']);
/** Methods whose 2xx needs a Contact. @see RFC 3261 section 12.1.1, RFC 3311 section 5.2 */
const SHOWS_CONTACT = new Set(['INVITE', 'SUBSCRIBE', 'UPDATE']);

/** Sends an application's response, and reports it as sent. */
export function respond(core: Core, command: Command, transactionId: string, sparse: SipResponse): void {
  const refuse = (why: string) => command.reply(formatNok(core.ids.uuid(), command.id, why));
  const incoming = core.incomingRequests.byId(transactionId);
  if (!incoming || incoming.proxy) {
    refuse('Response not sent due to unknown transaction');
    return;
  }
  const { request } = incoming.transaction;
  const wantsReliable = request.method === 'INVITE' && isReliable(sparse);
  if (wantsReliable && !supportsReliable(request)) {
    refuse('Remote endpoint does not support 100rel');
    return;
  }
  const response = completeResponse(core, incoming, sparse);
  if (!ensureContentType(response)) {
    refuse('missing content-type');
    return;
  }
  if (response.status > 100) noteDialog(core, incoming, response);
  const echo = (sent: SipResponse) => echoResponse(core, command, incoming, sent);
  if (wantsReliable) {
    extendAnswerTimeout(core, incoming);
    sendReliable(core, incoming, response, echo, () => answerForApplication(core, incoming, 504));
  } else if (response.status < 200) {
    extendAnswerTimeout(core, incoming);
    sendProvisional(core, incoming, response);
    echo(response);
  } else if (request.method === 'INVITE' && response.status < 300) {
    whenAcknowledged(incoming, () => accept(core, incoming, response, echo));
  } else {
    refuseOrFinish(core, incoming, response);
    echo(response);
  }
}

function isReliable(response: SipResponse): boolean {
  return response.status > 100 && response.status < 200 && hasToken(response.headers, 'require', '100rel');
}

function completeResponse(core: Core, incoming: IncomingRequest, sparse: SipResponse): SipResponse {
  const { request, flow } = incoming.transaction;
  const chosenTag = tagOf(sparse.headers.get('to'));
  if (chosenTag !== undefined && tagOf(request.headers.get('to')) === undefined && !incoming.dialog) {
    incoming.toTag = chosenTag;
  }
  const parts = sparse.reason === '' ? {} : { reason: sparse.reason };
  const tag = sparse.status === 100 ? {} : { toTag: incoming.toTag };
  const response = makeResponse(request, sparse.status, { ...parts, ...tag });
  overlayHeaders(response.headers, sparse.headers, FROM_REQUEST);
  response.body = sparse.body;
  const isDialogAnswer = sparse.status > 100 && sparse.status < 300 && SHOWS_CONTACT.has(request.method);
  if (isDialogAnswer) response.headers.setDefault('contact', `<${ownUri(core, flow)}>`);
  replaceLocalhost(core, response.headers, flow);
  bracketAddresses(response.headers, ['contact']);
  return response;
}

/** Creates the dialog of the response, if there is none. */
function noteDialog(core: Core, incoming: IncomingRequest, response: SipResponse): void {
  const { request, flow } = incoming.transaction;
  if (incoming.dialog || response.status >= 300 || !MAKES_DIALOG.has(request.method)) return;
  incoming.dialog = addDialog(core, {
    id: incoming.dialogId,
    role: 'uas',
    kind: request.method,
    application: incoming.application,
    lastFlow: flow,
    state: dialogStateOfUas(request, response),
  });
  updateNatFlow(incoming.dialog, request, flow);
  if (request.method === 'INVITE') incoming.dialog.incomingInvite = incoming;
  if (request.method === 'SUBSCRIBE') incoming.dialog.confirmed = true;
  incoming.dialog.peerAllowsUpdate = hasToken(request.headers, 'allow', 'update');
}

/** Retransmits a 2xx to INVITE until its ACK; without one the dialog is terminated. @see RFC 3261 section 13.3.1.4 */
function accept(
  core: Core,
  incoming: IncomingRequest,
  response: SipResponse,
  echo: (sent: SipResponse) => void,
): void {
  const { transaction, dialog } = incoming;
  if (!dialog || transaction.status >= 200) return;
  const isFirst = !dialog.confirmed;
  const timer = negotiateAsUas(transaction.request, response.headers);
  transaction.respond(response);
  dialog.confirmed = true;
  dialog.state.localTarget = response.headers.get('contact') ?? dialog.state.localTarget;
  noteBody(dialog, response);
  const times = { t1Ms: core.sipTimes.t1Ms, maxGapMs: core.sipTimes.t2Ms };
  const retransmission = startRetransmission(core.clock, times, {
    send: () => transaction.respond(response),
    giveUp: () => terminateDialog(core, dialog, 200, 'ACK timeout'),
  });
  const { sequence } = parseCSeq(transaction.request.headers.get('cseq') ?? '');
  dialog.unacknowledged2xx = { sequence, transactionId: incoming.id, retransmission, isFirst };
  startSessionTimer(core, dialog, timer);
  removeIncomingRequest(core, incoming);
  echo(response);
  if (isFirst)
    core.announceCdr({ verb: 'cdr:start', source: 'application', detail: 'uas', message: response });
}

function refuseOrFinish(core: Core, incoming: IncomingRequest, response: SipResponse): void {
  const { transaction, dialog } = incoming;
  const { method } = transaction.request;
  if (method === 'UPDATE' && response.status < 300 && dialog) {
    startSessionTimer(
      core,
      dialog,
      negotiateAsUas(transaction.request, response.headers) ?? dialog.sessionTimer,
    );
    dialog.state.localTarget = response.headers.get('contact') ?? dialog.state.localTarget;
    noteBody(dialog, response);
  }
  transaction.respond(response);
  if (method === 'INVITE' && response.status >= 300 && !dialog?.confirmed) {
    if (dialog) removeDialog(core, dialog);
    core.announceCdr({ verb: 'cdr:stop', source: 'application', detail: 'call-rejected', message: response });
  }
  removeIncomingRequest(core, incoming);
}

function noteBody(dialog: Dialog, response: SipResponse): void {
  const type = response.headers.get('content-type');
  if (response.body !== '' && type !== undefined) dialog.localBody = { type, body: response.body };
}

function echoResponse(core: Core, command: Command, incoming: IncomingRequest, response: SipResponse): void {
  const text = formatMessage(response);
  const meta = messageMeta(core, incoming.transaction.flow.remote, text.length);
  const isGone = incoming.transaction.request.method === 'BYE';
  const ids = { transactionId: incoming.id, dialogId: isGone ? '' : incoming.dialogId };
  command.reply(formatResponseSent(core.ids.uuid(), command.id, meta, ids, text));
}
