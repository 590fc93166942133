import { tagOf } from '../../message/fields/nameAddr.ts';
import { parseCSeq, parseRAck } from '../../message/fields/sequence.ts';
import { parseRoutableUri, parseUri, unbracketed } from '../../message/fields/uri.ts';
import { cloneRequest, formatMessage, type SipRequest } from '../../message/message.ts';
import type { Target } from '../../transport/resolver.ts';
import type { Flow } from '../../transport/types.ts';
import { ensureContentType, overlayHeaders, refusalOf } from '../applicationMessage.ts';
import { type Core, type Dialog, messageMeta, type OutgoingRequest } from '../core.ts';
import { sendAck, terminateDialog } from '../dialogs/dialog.ts';
import { assignDialogId } from '../dialogs/dialogTable.ts';
import { resolveDialogTarget, runInOrder } from '../dialogs/routing.ts';
import type { Application } from '../protocol/applications.ts';
import type { Command } from '../protocol/connection.ts';
import { formatNok, formatRequestSent } from '../protocol/messages.ts';
import { completeInDialog, completeNew, FROM_DIALOG } from './completeRequest.ts';
import { startRequest } from './outgoingRequest.ts';

/** Sends a request outside a dialog. */
export function sendNew(
  core: Core,
  application: Application,
  command: Command,
  sparse: SipRequest,
  route: string,
): void {
  const refuse = (why: string) => command.reply(formatNok(core.ids.uuid(), command.id, why));
  const existing = dialogMeant(core, sparse);
  if (existing) {
    sendInDialog(core, application, command, sparse, existing);
    return;
  }
  const startLine = `${sparse.method} ${sparse.uri} SIP/2.0`;
  if (!isRoutable(sparse.uri, route)) {
    refuse(`invalid request-uri: ${startLine}`);
    return;
  }
  if (!ensureContentType(sparse)) {
    refuse('missing content-type');
    return;
  }
  const nextHop = route === '' ? sparse.uri : stripBrackets(route);
  runInOrder(
    undefined,
    () => core.resolve(parseRoutableUri(nextHop)),
    (targets) => {
      const [target] = targets;
      if (!target) return refuse(`${nextHop} cannot be resolved`);
      if (core.transport.isSelf(target.address, target.port)) return refuse('can not send request to myself');
      const flow = flowOrUndefined(core, target);
      if (!flow) return refuse('requested protocol/transport not available');
      const request = completeNew(core, sparse, flow);
      start(core, application, command, { request, targets, dialog: undefined });
    },
    (error) => refuse(refusalOf(error)),
  );
}

/** The dialog of a request without a dialog id, by its Call-ID and From tag. */
function dialogMeant(core: Core, { headers }: SipRequest): Dialog | undefined {
  const tag = tagOf(headers.get('from'));
  return core.dialogs
    .ofCall(headers.get('call-id') ?? '')
    .findLast(({ confirmed, state: dialog }) => confirmed && (tag === undefined || tag === dialog.localTag));
}

/** Sends a request inside a dialog. @param named - The dialog of the given id. */
export function sendInDialog(
  core: Core,
  application: Application,
  command: Command,
  sparse: SipRequest,
  named: Dialog,
): void {
  const dialog = sparse.method === 'PRACK' ? dialogOfPrack(named, sparse) : named;
  const refuse = (why: string) => command.reply(formatNok(core.ids.uuid(), command.id, why));
  if (sparse.method === 'ACK') {
    acknowledge(core, command, sparse, dialog);
    return;
  }
  if (!ensureContentType(sparse)) {
    refuse('missing content-type');
    return;
  }
  if (sparse.method === 'INVITE' && dialog.outgoingInvite) {
    refuse('an INVITE is already in progress');
    return;
  }
  if (sparse.method === 'BYE' && dialog.outgoingInvite) cancelInvite(core, dialog.outgoingInvite, []);
  runInOrder(
    dialog,
    () => resolveDialogTarget(core, dialog),
    (targets) => {
      const [target] = targets;
      const flow = target && flowOrUndefined(core, target);
      if (!flow) return refuse('requested protocol/transport not available');
      start(core, application, command, {
        request: completeInDialog(core, dialog, sparse, flow),
        targets,
        dialog,
      });
    },
    (error) => refuse(refusalOf(error)),
  );
}

/** Early dialogs of one INVITE share their id; the RAck names the dialog. */
function dialogOfPrack(named: Dialog, { headers }: SipRequest): Dialog {
  const outgoing = named.outgoingInvite;
  const rack = headers.get('rack');
  if (!outgoing || rack === undefined) return named;
  const { responseNumber } = parseRAck(rack);
  return (
    outgoing.earlyDialogs.find(({ state }) => outgoing.lastRSeqs.get(state.remoteTag) === responseNumber) ??
    named
  );
}

/** Cancels an INVITE of the application. */
export function sendCancel(core: Core, command: Command, sparse: SipRequest, transactionId: string): void {
  const outgoing = core.outgoingRequests.byId(transactionId);
  if (outgoing?.template.method !== 'INVITE' || outgoing.transaction.hasFinal) {
    command.reply(
      formatNok(core.ids.uuid(), command.id, `unable to cancel unknown transaction id: ${transactionId}`),
    );
    return;
  }
  const headers = [...sparse.headers]
    .filter(([, , key]) => !NOT_IN_CANCEL.has(key))
    .map(([name, value]) => [name, value] as [string, string]);
  const echoed = cancelInvite(core, outgoing, headers);
  const meta = messageMeta(core, outgoing.transaction.flow.local, echoed.length);
  command.reply(formatRequestSent(core.ids.uuid(), command.id, meta, core.ids.uuid(), echoed));
}

/** CANCEL copies these from the INVITE. @see RFC 3261 section 9.1 */
const NOT_IN_CANCEL = new Set('via from to call-id cseq route max-forwards content-length'.split(' '));

/** Sends CANCEL, or as soon as there is a provisional response. @returns The CANCEL. */
export function cancelInvite(core: Core, outgoing: OutgoingRequest, headers: [string, string][]): string {
  outgoing.failover?.cancel();
  outgoing.targets = [];
  const first = !outgoing.canceled;
  outgoing.canceled ??= { headers, sent: false };
  if (first && outgoing.transaction.hasProvisional) {
    outgoing.canceled.sent = true;
    return core.transactions.cancel(outgoing.transaction, headers).text;
  }
  const preview = cloneRequest({ ...outgoing.transaction.request, method: 'CANCEL', body: '' });
  const { sequence } = parseCSeq(preview.headers.get('cseq') ?? '');
  preview.headers.set('cseq', `${sequence} CANCEL`);
  for (const name of ['contact', 'content-type', 'supported', 'allow', 'session-expires'])
    preview.headers.remove(name);
  return formatMessage(preview);
}

function start(
  core: Core,
  application: Application,
  command: Command,
  parts: { request: SipRequest; targets: Target[]; dialog: Dialog | undefined },
): void {
  const { request, dialog } = parts;
  const outgoing = startRequest(core, {
    ...parts,
    application,
    dialogId: dialog?.id ?? assignDialogId(core, 'uac', request),
  });
  const { text, flow } = outgoing.transaction;
  const meta = messageMeta(
    core,
    flow.reliable ? flow.remote : { ...flow.local, ...advertisedAs(core, flow) },
    text.length,
  );
  command.reply(formatRequestSent(core.ids.uuid(), command.id, meta, outgoing.id, text));
  if (request.method === 'INVITE' && !dialog) {
    core.announceCdr({ verb: 'cdr:attempt', source: 'application', message: request });
  }
}

function advertisedAs(core: Core, flow: Flow): { address: string; port: number } {
  const { host, port } = core.transport.advertised(flow);
  return { address: host, port };
}

/** Sends the application's ACK to a 2xx; the ACK to other responses was sent before. */
function acknowledge(core: Core, command: Command, sparse: SipRequest, dialog: Dialog): void {
  const waiting = dialog.pendingAck;
  if (!waiting || waiting.request || !ensureContentType(sparse)) {
    command.reply(formatNok(core.ids.uuid(), command.id, ACK_GENERATED_BY_SERVER));
    return;
  }
  const ack = sendAck(core, dialog, waiting.sequence, (request) => {
    overlayHeaders(request.headers, sparse.headers, FROM_DIALOG);
    request.body = sparse.body;
  });
  const text = formatMessage(ack);
  command.reply(
    formatRequestSent(
      core.ids.uuid(),
      command.id,
      messageMeta(core, dialog.lastFlow.local, text.length),
      core.ids.uuid(),
      text,
    ),
  );
  const type = ack.headers.get('content-type');
  if (ack.body !== '' && type !== undefined) dialog.localBody = { type, body: ack.body };
  if (dialog.endAfterAck) terminateDialog(core, dialog, 200, 'ACK-BYE due to cancel race condition');
}

/** drachtio-server's refusal of an ACK that it sends itself. */
export const ACK_GENERATED_BY_SERVER =
  'Server error: ACK for non-success final response is automatically generated by server';

function isRoutable(uri: string, route: string): boolean {
  try {
    if (route !== '') parseRoutableUri(stripBrackets(route));
    const parsed = parseUri(uri);
    return parsed.scheme === 'sip' || parsed.scheme === 'sips' || (parsed.scheme === 'tel' && route !== '');
  } catch {
    // A malformed URI cannot be routed.
    return false;
  }
}

function flowOrUndefined(core: Core, target: Target): Flow | undefined {
  try {
    return core.transport.flowTo(target);
  } catch {
    // There is no socket of that transport.
    return undefined;
  }
}

function stripBrackets(route: string): string {
  return unbracketed(route.replace(/^<|>$/g, ''));
}
