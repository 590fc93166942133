import { refreshTarget } from '../../dialog/dialogState.ts';
import { hasToken, negotiatedByUac } from '../../dialog/sessionTimer.ts';
import { tagOf } from '../../message/fields/nameAddr.ts';
import { parseCSeq } from '../../message/fields/sequence.ts';
import { cloneRequest, type SipRequest, type SipResponse } from '../../message/message.ts';
import { makeResponse } from '../../message/response.ts';
import type { ClientTransaction } from '../../transaction/client.ts';
import type { Target } from '../../transport/resolver.ts';
import type { ReceivedMessage } from '../../transport/types.ts';
import type { Core, Dialog, OutgoingRequest } from '../core.ts';
import { removeDialog, retransmitAck, sendAck, terminateDialog } from '../dialogs/dialog.ts';
import { updateCalleeNatFlow } from '../dialogs/routing.ts';
import { startSessionTimer } from '../dialogs/sessionRefresh.ts';
import type { Application } from '../protocol/applications.ts';
import { deliverResponse } from '../uas/receive.ts';
import {
  confirmDialog,
  createDialogAsUac,
  isRetransmittedReliable,
  rejectFork,
  updateEarlyDialog,
} from './forking.ts';

export interface OutgoingRequestParts {
  readonly application: Application;
  readonly request: SipRequest;
  readonly targets: Target[];
  readonly dialogId: string;
  readonly dialog: Dialog | undefined;
}

/**
 * Sends a request to its first target, and to the next one when that is silent or overloaded.
 *
 * @see RFC 3263 section 4.3
 */
export function startRequest(
  core: Core,
  { application, request, targets, dialogId, dialog }: OutgoingRequestParts,
): OutgoingRequest {
  const [first, ...rest] = core.tcpUpgrade.withTcpTargets(request, targets);
  if (!first) throw new Error('there is no target');
  const outgoing: OutgoingRequest = {
    id: core.ids.uuid(),
    application,
    template: request,
    dialogId,
    dialog,
    targets: rest,
    failover: undefined,
    canceled: undefined,
    earlyDialogs: [],
    lastRSeqs: new Map(),
    transaction: transmit(core, () => outgoing, request, first),
  };
  core.outgoingRequests.add(outgoing);
  if (dialog && request.method === 'INVITE') dialog.outgoingInvite = outgoing;
  watchSilence(core, outgoing);
  return outgoing;
}

/** @param outgoingOf - Called on the first response. */
function transmit(
  core: Core,
  outgoingOf: () => OutgoingRequest,
  template: SipRequest,
  target: Target,
): ClientTransaction {
  const isCurrent = () => outgoingOf().transaction === transaction;
  let isRefused = false;
  const transaction: ClientTransaction = core.transactions.request(
    cloneRequest(template),
    core.transport.flowTo(target),
    {
      onResponse: (response, received) => {
        const outgoing = outgoingOf();
        if (!isCurrent()) onAbandoned(core, outgoing, response, transaction);
        else if (!isRefused) onResponse(core, outgoing, response, received);
        // A refused re-INVITE leaves its dialog as it is.
        else if (!outgoing.dialog?.confirmed) onAbandoned(core, outgoing, response, transaction);
        isRefused ||= response.status >= 300;
      },
      onTimeout: () => {
        if (isCurrent()) fail(core, outgoingOf(), 408);
      },
      onTransportError: () => {
        if (isCurrent()) fail(core, outgoingOf(), 503);
      },
      onTerminated: () => {
        const outgoing = outgoingOf();
        if (isCurrent() && transaction.hasFinal) core.outgoingRequests.remove(outgoing);
      },
    },
  );
  return transaction;
}

/** Fails over from a silent target before Timer B, while there are others. */
function watchSilence(core: Core, outgoing: OutgoingRequest): void {
  outgoing.failover?.cancel();
  if (outgoing.targets.length === 0) return;
  const { transaction } = outgoing;
  const isMute = () => !transaction.hasProvisional && !transaction.hasFinal;
  const leave = () => {
    if (isMute()) tryNext(core, outgoing);
  };
  const { remote } = transaction.flow;
  if (!core.tcpUpgrade.isUpgrade(remote, outgoing.targets)) {
    outgoing.failover = core.clock.setTimer(leave, core.times.failoverMs);
    return;
  }
  const connectMs = CONNECT_ROUND_TRIPS * core.sipTimes.t1Ms;
  outgoing.failover = core.clock.setTimer(() => {
    if (!core.transport.isConnected(remote)) leave();
    else outgoing.failover = core.clock.setTimer(leave, Math.max(core.times.failoverMs - connectMs, 0));
  }, connectMs);
}

/** The time for connecting in a TCP upgrade, in round trips: a firewall may drop the SYN. */
const CONNECT_ROUND_TRIPS = 2;

/** Sends the request to the next target. @returns False when there is none. */
function tryNext(core: Core, outgoing: OutgoingRequest): boolean {
  const [next, ...rest] = outgoing.targets;
  if (!next || outgoing.canceled) return false;
  const { remote } = outgoing.transaction.flow;
  if (core.tcpUpgrade.isUpgrade(remote, outgoing.targets) && !core.transport.isConnected(remote)) {
    core.tcpUpgrade.markUdpOnly(remote);
  }
  outgoing.targets = rest;
  core.counters.count('requests.failed_over');
  outgoing.transaction = transmit(core, () => outgoing, outgoing.template, next);
  watchSilence(core, outgoing);
  return true;
}

/** Cancels or ends the call of a target that responds after the failover, or accepts a call that it has refused. */
function onAbandoned(
  core: Core,
  outgoing: OutgoingRequest,
  response: SipResponse,
  transaction: ClientTransaction,
): void {
  if (outgoing.template.method !== 'INVITE') return;
  if (response.status < 200) core.transactions.cancel(transaction);
  else if (response.status < 300) rejectFork(core, outgoing.application, transaction, response);
}

/** Delivers a generated response when none comes from the network. */
function fail(core: Core, outgoing: OutgoingRequest, status: number): void {
  if (tryNext(core, outgoing)) return;
  const response = makeResponse(outgoing.template, outgoing.canceled ? 487 : status, {
    toTag: core.ids.token(),
  });
  finish(core, outgoing, response);
  deliverResponse(
    core,
    { application: outgoing.application, transactionId: outgoing.id, dialogId: outgoing.dialogId },
    response,
    undefined,
  );
  core.outgoingRequests.remove(outgoing);
}

function onResponse(
  core: Core,
  outgoing: OutgoingRequest,
  response: SipResponse,
  received: ReceivedMessage,
): void {
  if (response.status < 200) onProvisional(core, outgoing, response, received);
  else if (response.status === 503 && !outgoing.dialog?.confirmed && tryNext(core, outgoing)) return;
  else if (outgoing.template.method === 'INVITE' && response.status < 300)
    onAccepted(core, outgoing, response, received);
  else {
    finish(core, outgoing, response);
    deliver(core, outgoing, response, received);
  }
}

function onProvisional(
  core: Core,
  outgoing: OutgoingRequest,
  response: SipResponse,
  received: ReceivedMessage,
): void {
  outgoing.failover?.cancel();
  if (outgoing.canceled && !outgoing.canceled.sent) {
    outgoing.canceled.sent = true;
    core.transactions.cancel(outgoing.transaction, outgoing.canceled.headers);
  }
  if (outgoing.canceled?.sent) startCancelTimeout(core, outgoing);
  if (response.status === 100) {
    if (core.showTrying) deliver(core, outgoing, response, received);
    return;
  }
  if (isRetransmittedReliable(outgoing, response)) {
    core.counters.count('dropped.reliable_repeats');
    return;
  }
  if (!updateEarlyDialog(core, outgoing, response, received)) {
    core.counters.count('dropped.forks');
    return;
  }
  deliver(core, outgoing, response, received);
}

/** Ends the INVITE 64·T1 after the CANCEL, should the peer not end it. @see RFC 3261 section 9.1 */
function startCancelTimeout(core: Core, outgoing: OutgoingRequest): void {
  outgoing.failover?.cancel();
  const over = () => {
    if (core.outgoingRequests.byId(outgoing.id) !== outgoing || outgoing.transaction.hasFinal) return;
    fail(core, outgoing, 487);
  };
  outgoing.failover = core.clock.setTimer(over, 64 * core.sipTimes.t1Ms);
}

function onAccepted(
  core: Core,
  outgoing: OutgoingRequest,
  response: SipResponse,
  received: ReceivedMessage,
): void {
  const { request } = outgoing.transaction;
  const tag = tagOf(response.headers.get('to')) ?? '';
  if (outgoing.dialog?.confirmed && outgoing.dialog.state.remoteTag !== tag) {
    rejectFork(core, outgoing.application, outgoing.transaction, response);
    return;
  }
  const { sequence } = parseCSeq(request.headers.get('cseq') ?? '');
  const { dialog } = outgoing;
  if (dialog?.pendingAck?.sequence === sequence) {
    retransmitAck(dialog.pendingAck);
    return;
  }
  if (dialog && dialog.state.remoteTag === tag && !core.dialogs.has(dialog)) {
    rejectFork(core, outgoing.application, outgoing.transaction, response);
    return;
  }
  confirm(core, outgoing, response, received, sequence);
  deliver(core, outgoing, response, received);
}

function confirm(
  core: Core,
  outgoing: OutgoingRequest,
  response: SipResponse,
  received: ReceivedMessage,
  sequence: number,
): void {
  const isFirst = !outgoing.dialog?.confirmed;
  const dialog =
    isFirst || !outgoing.dialog ? confirmDialog(core, outgoing, response, received) : outgoing.dialog;
  outgoing.dialog = dialog;
  dialog.confirmed = true;
  dialog.lastFlow = received.flow;
  refreshTarget(dialog.state, response);
  if (isFirst) updateCalleeNatFlow(dialog, response, received.flow);
  finish(core, outgoing, response);
  dialog.peerAllowsUpdate = hasToken(response.headers, 'allow', 'update');
  dialog.pendingAck?.limit?.cancel();
  const unacknowledged = () => {
    sendAck(core, dialog, sequence);
    terminateDialog(core, dialog, 200, 'ACK timeout');
  };
  const limit = core.clock.setTimer(unacknowledged, 64 * core.sipTimes.t1Ms);
  dialog.pendingAck = { sequence, request: undefined, sent: undefined, limit };
  dialog.endAfterAck = outgoing.canceled !== undefined && isFirst;
  startSessionTimer(core, dialog, negotiatedByUac(outgoing.transaction.request, response.headers));
  if (isFirst) core.announceCdr({ verb: 'cdr:start', source: 'network', detail: 'uac', message: response });
}

/** Cleans up after a final response. */
function finish(core: Core, outgoing: OutgoingRequest, response: SipResponse): void {
  outgoing.failover?.cancel();
  const { dialog } = outgoing;
  const { method } = outgoing.template;
  if (dialog?.outgoingInvite === outgoing) dialog.outgoingInvite = undefined;
  if (method === 'INVITE' && response.status >= 300 && !dialog?.confirmed) {
    for (const early of outgoing.earlyDialogs) removeDialog(core, early);
    const detail = outgoing.canceled ? 'call-canceled' : 'call-rejected';
    core.announceCdr({ verb: 'cdr:stop', source: 'network', detail, message: response });
  }
  const isChallenge = response.status === 401 || response.status === 407;
  if (dialog && method === 'BYE' && !isChallenge) {
    removeDialog(core, dialog);
    core.announceCdr({
      verb: 'cdr:stop',
      source: 'application',
      detail: 'normal-release',
      message: outgoing.template,
    });
  }
  if (dialog && endsSubscription(dialog, outgoing.template)) removeDialog(core, dialog);
  if (dialog && method === 'UPDATE' && response.status < 300) {
    refreshTarget(dialog.state, response);
    startSessionTimer(
      core,
      dialog,
      negotiatedByUac(outgoing.template, response.headers) ?? dialog.sessionTimer,
    );
  }
}

function endsSubscription(dialog: Dialog, request: SipRequest): boolean {
  const state = request.headers.get('subscription-state') ?? '';
  return dialog.kind === 'SUBSCRIBE' && request.method === 'NOTIFY' && /^\s*terminated/i.test(state);
}

function deliver(
  core: Core,
  outgoing: OutgoingRequest,
  response: SipResponse,
  received: ReceivedMessage,
): void {
  const isSubscribed =
    outgoing.template.method === 'SUBSCRIBE' && response.status >= 200 && response.status < 300;
  if (isSubscribed && !outgoing.dialog) {
    outgoing.dialog = createDialogAsUac(core, outgoing, response, received);
    outgoing.dialog.confirmed = true;
  }
  deliverResponse(
    core,
    { application: outgoing.application, transactionId: outgoing.id, dialogId: outgoing.dialogId },
    response,
    received,
  );
}
