import { isIP } from 'node:net';
import { createDialogRequest, refreshTarget } from '../../dialog/dialogState.ts';
import {
  addToken,
  negotiatedByUac,
  type SessionTimer,
  sessionDelays,
  withMinSe,
} from '../../dialog/sessionTimer.ts';
import { parseNameAddr } from '../../message/fields/nameAddr.ts';
import { formatReason } from '../../message/fields/reason.ts';
import { parseRoutableUri, unbracketed } from '../../message/fields/uri.ts';
import { parseVia } from '../../message/fields/via.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../../message/message.ts';
import type { ClientTransactionUser } from '../../transaction/client.ts';
import type { Target } from '../../transport/resolver.ts';
import type { Flow } from '../../transport/types.ts';
import { type Core, type Dialog, messageMeta, type PendingAck } from '../core.ts';
import { formatSipMessage, UNSOLICITED } from '../protocol/messages.ts';

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
  dialog.unacknowledged2xx?.repeating.stop();
  dialog.unacknowledged2xx = undefined;
  dialog.pendingAck?.limit?.cancel();
  dialog.sessionTimer?.timer.cancel();
  dialog.sessionTimer = undefined;
  const { outgoingInvite } = dialog;
  if (outgoingInvite)
    outgoingInvite.earlyDialogs = outgoingInvite.earlyDialogs.filter((one) => one !== dialog);
  core.dialogs.remove(dialog);
}

/**
 * Remembers the peer's actual address where its Contact is wrong: behind a NAT, or after its address changed.
 *
 * Only without a proxy in between, and when the peer's own Via differs from its source address.
 */
export function updateNatFlow(dialog: Dialog, request: SipRequest, flow: Flow): void {
  dialog.lastFlow = flow;
  const vias = request.headers.list('via');
  if (dialog.state.routeSet.length > 0 || vias.length !== 1) return;
  const top = parseVia(vias[0] ?? '');
  const host = unbracketed(top.host);
  const port = top.port ?? (top.transport === 'TLS' ? 5061 : 5060);
  const isMistaken =
    isIP(host) > 0 && (host !== flow.remote.address || (!flow.reliable && port !== flow.remote.port));
  dialog.natFlow = isMistaken ? flow : undefined;
}

/** A private Contact in a response from a public address is unreachable. */
export function updateCalleeNatFlow(dialog: Dialog, flow: Flow): void {
  if (dialog.state.routeSet.length > 0) return;
  const { host } = parseRoutableUri(dialog.state.remoteTarget);
  if (PRIVATE.test(host) && !PRIVATE.test(flow.remote.address)) dialog.natFlow = flow;
}

/** @see RFC 1918, RFC 6598 */
const PRIVATE =
  /^(?:10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;

/** The target of the next request in a dialog: the NAT address, the first route or the remote target. */
export function resolveDialogTarget(core: Core, dialog: Dialog): Target[] | Promise<Target[]> {
  if (dialog.natFlow) return [dialog.natFlow.remote];
  const [route] = dialog.state.routeSet;
  const uri = route === undefined ? dialog.state.remoteTarget : parseNameAddr(route).uri;
  const found = core.resolve(parseRoutableUri(uri));
  // The peer's connection is open, while its Contact may name a port that is not listening.
  if (!dialog.lastFlow.reliable || route !== undefined || !core.transport.isConnected(dialog.lastFlow.remote))
    return found;
  const connected: Target = dialog.lastFlow.remote;
  return Array.isArray(found) ? [connected, ...found] : found.then((targets) => [connected, ...targets]);
}

/**
 * Acts on resolved targets, in the order of the calls for one dialog; synchronously where no DNS is needed.
 *
 * @param onFailure - The name cannot be resolved, or `act` threw.
 */
export function runInOrder(
  dialog: Dialog | undefined,
  find: () => Target[] | Promise<Target[]>,
  act: (targets: Target[]) => void,
  onFailure: (error: unknown) => void,
): void {
  const attempt = (): void | Promise<void> => {
    const targets = find();
    return Array.isArray(targets) ? act(targets) : targets.then(act);
  };
  if (dialog?.sending === undefined) {
    try {
      const outcome = attempt();
      if (outcome && dialog) follow(dialog, outcome.catch(onFailure));
      else if (outcome) outcome.catch(onFailure);
    } catch (error) {
      onFailure(error);
    }
    return;
  }
  follow(dialog, dialog.sending.then(attempt).catch(onFailure));
}

function follow(dialog: Dialog, work: Promise<void>): void {
  dialog.sending = work;
  work.then(() => {
    if (dialog.sending === work) dialog.sending = undefined;
  });
}

/** Sends a request that the server generates, inside a dialog. */
export function sendServerRequest(
  core: Core,
  dialog: Dialog,
  request: SipRequest,
  user: Partial<ClientTransactionUser> = {},
): void {
  runInOrder(
    dialog,
    () => resolveDialogTarget(core, dialog),
    ([target]) => {
      if (!target) return;
      core.transactions.request(request, core.transport.flowTo(target), {
        onResponse: (response, received) => user.onResponse?.(response, received),
        onTimeout: () => user.onTimeout?.(),
        onTransportError: (error) => user.onTransportError?.(error),
      });
    },
    () => core.counters.count('requests.unroutable'),
  );
}

/** Sends BYE for the server, and an unsolicited BYE with the reason to the application. */
export function terminateDialog(core: Core, dialog: Dialog, cause: number, why: string): void {
  const bye = createDialogRequest(dialog.state, 'BYE');
  bye.headers.add('reason', formatReason({ protocol: 'SIP', cause, text: why }));
  removeDialog(core, dialog);
  sendServerRequest(core, dialog, bye);
  core.counters.count('dialogs.ended_by_server');
  const seen = messageMeta(core, dialog.lastFlow.local, formatMessage(bye).length);
  const line = {
    source: 'application',
    meta: seen,
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
  runInOrder(
    dialog,
    () => resolveDialogTarget(core, dialog),
    ([target]) => {
      if (!target) return;
      const flow = core.transport.flowTo(target);
      const copy = { ...ack, headers: ack.headers.clone() };
      sending.sent = { flow, text: core.transactions.sendWithoutTransaction(copy, flow) };
    },
    () => core.counters.count('requests.unroutable'),
  );
  return ack;
}

/** Sends the identical ACK again, with its branch. @see RFC 3261 section 13.2.2.4 */
export function retransmitAck({ sent }: PendingAck): void {
  sent?.flow.send(sent.text);
}

/** Starts or restarts the session timer; stops it when `timer` is undefined. @see RFC 4028 */
export function startSessionTimer(core: Core, dialog: Dialog, timer: SessionTimer | undefined): void {
  dialog.sessionTimer?.timer.cancel();
  dialog.sessionTimer = undefined;
  if (!timer) return;
  const { refreshMs, expireMs } = sessionDelays(timer);
  const fire = timer.weRefresh
    ? () => refreshSession(core, dialog, timer)
    : () => terminateDialog(core, dialog, 408, 'Session timer expired');
  dialog.sessionTimer = {
    ...timer,
    timer: core.clock.setTimer(fire, timer.weRefresh ? refreshMs : expireMs),
  };
}

/** Refreshes by UPDATE if the peer supports it, else by a re-INVITE with the last offer. */
function refreshSession(core: Core, dialog: Dialog, timer: SessionTimer): void {
  if (dialog.outgoingInvite || dialog.incomingInvite) {
    retrySession(core, dialog, timer);
    return;
  }
  const { intervalSeconds, minimumSeconds } = timer;
  const method = dialog.peerAllowsUpdate || !dialog.localBody ? 'UPDATE' : 'INVITE';
  const request = createDialogRequest(dialog.state, method);
  request.headers.add('contact', dialog.state.localTarget);
  request.headers.add('session-expires', `${intervalSeconds};refresher=uac`);
  if (minimumSeconds !== undefined) request.headers.add('min-se', String(minimumSeconds));
  addToken(request.headers, 'supported', 'timer');
  if (method === 'INVITE' && dialog.localBody) {
    request.headers.add('content-type', dialog.localBody.type);
    request.body = dialog.localBody.body;
  }
  core.counters.count('sessions.refreshed');
  const gone = () => terminateDialog(core, dialog, 408, 'Session timer expired');
  dialog.sessionTimer = { ...timer, timer: core.clock.setTimer(gone, (intervalSeconds * 1000) / 2) };
  sendServerRequest(core, dialog, request, {
    onResponse: (response) => onRefreshed(core, dialog, request, response, timer),
    onTimeout: gone,
    onTransportError: gone,
  });
}

function onRefreshed(
  core: Core,
  dialog: Dialog,
  request: SipRequest,
  response: SipResponse,
  timer: SessionTimer,
): void {
  if (response.status < 200 || !core.dialogs.has(dialog)) return;
  const longer = response.status === 422 ? withMinSe(timer, response.headers) : undefined;
  if (response.status === 408 || response.status === 481)
    terminateDialog(core, dialog, 408, 'Session timer expired');
  else if (longer) refreshAgain(core, dialog, longer);
  else if (response.status >= 300) retrySession(core, dialog, timer);
  else {
    refreshTarget(dialog.state, response);
    if (request.method === 'INVITE')
      sendAck(core, dialog, Number(request.headers.get('cseq')?.split(' ')[0]));
    startSessionTimer(core, dialog, negotiatedByUac(request, response.headers));
  }
}

/** Retries with the interval of a 422. @see RFC 4028 section 7.4 */
function refreshAgain(core: Core, dialog: Dialog, timer: SessionTimer): void {
  dialog.sessionTimer?.timer.cancel();
  refreshSession(core, dialog, timer);
}

/** Retries a refresh that was rejected or cannot be sent now. */
function retrySession(core: Core, dialog: Dialog, timer: SessionTimer): void {
  dialog.sessionTimer?.timer.cancel();
  const again = () => refreshSession(core, dialog, timer);
  dialog.sessionTimer = { ...timer, timer: core.clock.setTimer(again, (timer.intervalSeconds * 1000) / 8) };
}
