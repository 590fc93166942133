import { refreshTarget } from '../dialog/dialog.ts';
import { clientTimer, hasToken } from '../dialog/sessionTimer.ts';
import { cloneRequest, type SipRequest, type SipResponse } from '../message/message.ts';
import { tagOf } from '../message/nameAddr.ts';
import { makeResponse } from '../message/respond.ts';
import { parseCSeq } from '../message/sequence.ts';
import type { ClientTransaction } from '../transaction/client.ts';
import type { Target } from '../transport/resolver.ts';
import type { Incoming } from '../transport/types.ts';
import type { Owner } from './apps.ts';
import { beginDialog, isRepeated, newLeg, noteEarly, refuseFork } from './forks.ts';
import type { Hub, Leg, Sent } from './hub.ts';
import { deliverResponse } from './incoming.ts';
import { endLeg, latchCallee, removeLeg, repeatAck, sendAck, watchSession } from './leg.ts';

export interface Launch {
  readonly owner: Owner;
  readonly request: SipRequest;
  readonly targets: Target[];
  readonly dialogId: string;
  readonly leg: Leg | undefined;
}

/** Sends a request to the first of its targets, and to the next ones if that one is silent or overloaded. */
export function launch(hub: Hub, { owner, request, targets, dialogId, leg }: Launch): Sent {
  const [first, ...rest] = hub.widening.widen(request, targets);
  if (!first) throw new Error('there is no target');
  const sent: Sent = {
    id: hub.ids.uuid(),
    owner,
    template: request,
    dialogId,
    leg,
    targets: rest,
    failover: undefined,
    canceled: undefined,
    early: [],
    reliable: new Map(),
    transaction: transmit(hub, () => sent, request, first),
  };
  hub.sent.add(sent);
  if (leg && request.method === 'INVITE') leg.outgoingInvite = sent;
  watchSilence(hub, sent);
  return sent;
}

/** @param sentOf - Asked only when something comes back. */
function transmit(hub: Hub, sentOf: () => Sent, template: SipRequest, target: Target): ClientTransaction {
  const isCurrent = () => sentOf().transaction === transaction;
  const transaction: ClientTransaction = hub.transactions.request(
    cloneRequest(template),
    hub.transport.flowTo(target),
    {
      onResponse: (response, incoming) => {
        if (isCurrent()) onResponse(hub, sentOf(), response, incoming);
        else onAbandoned(hub, sentOf(), response, transaction);
      },
      onTimeout: () => {
        if (isCurrent()) fail(hub, sentOf(), 408);
      },
      onTransportError: () => {
        if (isCurrent()) fail(hub, sentOf(), 503);
      },
      onTerminated: () => {
        const sent = sentOf();
        if (isCurrent() && transaction.hasFinal) hub.sent.remove(sent);
      },
    },
  );
  return transaction;
}

/** While there are other targets, a silent one is not given the whole of Timer B. */
function watchSilence(hub: Hub, sent: Sent): void {
  sent.failover?.cancel();
  if (sent.targets.length === 0) return;
  const { transaction } = sent;
  const isMute = () => !transaction.hasProvisional && !transaction.hasFinal;
  const leave = () => {
    if (isMute()) tryNext(hub, sent);
  };
  const { remote } = transaction.flow;
  if (!hub.widening.isTrial(remote, sent.targets)) {
    sent.failover = hub.clock.setTimer(leave, hub.times.failoverMs);
    return;
  }
  const connectMs = CONNECT_ROUND_TRIPS * hub.sipTimes.t1Ms;
  sent.failover = hub.clock.setTimer(() => {
    if (!hub.transport.isConnected(remote)) leave();
    else sent.failover = hub.clock.setTimer(leave, Math.max(hub.times.failoverMs - connectMs, 0));
  }, connectMs);
}

/** A firewall swallows what should connect; who must have the request in time does not wait for that. */
const CONNECT_ROUND_TRIPS = 2;

/** @returns Whether there was a next target. */
function tryNext(hub: Hub, sent: Sent): boolean {
  const [next, ...rest] = sent.targets;
  if (!next || sent.canceled) return false;
  const { remote } = sent.transaction.flow;
  if (hub.widening.isTrial(remote, sent.targets) && !hub.transport.isConnected(remote)) {
    hub.widening.failed(remote);
  }
  sent.targets = rest;
  hub.counters.count('requests.failed_over');
  sent.transaction = transmit(hub, () => sent, sent.template, next);
  watchSilence(hub, sent);
  return true;
}

/** A target that we had given up answers after all: it must not believe that it has a call. */
function onAbandoned(hub: Hub, sent: Sent, response: SipResponse, transaction: ClientTransaction): void {
  if (sent.template.method !== 'INVITE') return;
  if (response.status < 200) hub.transactions.cancel(transaction);
  else if (response.status < 300) refuseFork(hub, sent.owner, transaction, response);
}

/** No answer will come from the network: the application gets one from us. */
function fail(hub: Hub, sent: Sent, status: number): void {
  if (tryNext(hub, sent)) return;
  const response = makeResponse(sent.template, sent.canceled ? 487 : status, { toTag: hub.ids.token() });
  finish(hub, sent, response);
  deliverResponse(
    hub,
    { owner: sent.owner, transactionId: sent.id, dialogId: sent.dialogId },
    response,
    undefined,
  );
  hub.sent.remove(sent);
}

function onResponse(hub: Hub, sent: Sent, response: SipResponse, incoming: Incoming): void {
  if (response.status < 200) onProvisional(hub, sent, response, incoming);
  else if (response.status === 503 && !sent.leg?.confirmed && tryNext(hub, sent)) return;
  else if (sent.template.method === 'INVITE' && response.status < 300)
    onAccepted(hub, sent, response, incoming);
  else {
    finish(hub, sent, response);
    deliver(hub, sent, response, incoming);
  }
}

function onProvisional(hub: Hub, sent: Sent, response: SipResponse, incoming: Incoming): void {
  sent.failover?.cancel();
  if (sent.canceled && !sent.canceled.sent) {
    sent.canceled.sent = true;
    hub.transactions.cancel(sent.transaction, sent.canceled.headers);
  }
  if (sent.canceled?.sent) guardCancel(hub, sent);
  if (response.status === 100) {
    if (hub.showTrying) deliver(hub, sent, response, incoming);
    return;
  }
  if (isRepeated(sent, response)) {
    hub.counters.count('dropped.reliable_repeats');
    return;
  }
  if (!noteEarly(hub, sent, response, incoming)) {
    hub.counters.count('dropped.forks');
    return;
  }
  deliver(hub, sent, response, incoming);
}

/** A peer that takes our CANCEL and never ends its INVITE is not waited for. @see RFC 3261 section 9.1 */
export function guardCancel(hub: Hub, sent: Sent): void {
  sent.failover?.cancel();
  const over = () => {
    if (hub.sent.byId(sent.id) !== sent || sent.transaction.hasFinal) return;
    fail(hub, sent, 487);
  };
  sent.failover = hub.clock.setTimer(over, 64 * hub.sipTimes.t1Ms);
}

function onAccepted(hub: Hub, sent: Sent, response: SipResponse, incoming: Incoming): void {
  const { request } = sent.transaction;
  const tag = tagOf(response.headers.get('to')) ?? '';
  if (sent.leg?.confirmed && sent.leg.dialog.remoteTag !== tag) {
    refuseFork(hub, sent.owner, sent.transaction, response);
    return;
  }
  const { sequence } = parseCSeq(request.headers.get('cseq') ?? '');
  const { leg } = sent;
  if (leg?.ack?.sequence === sequence) {
    repeatAck(leg.ack);
    return;
  }
  if (leg && leg.dialog.remoteTag === tag && !hub.legs.has(leg)) {
    refuseFork(hub, sent.owner, sent.transaction, response);
    return;
  }
  confirm(hub, sent, response, incoming, sequence);
  deliver(hub, sent, response, incoming);
}

function confirm(hub: Hub, sent: Sent, response: SipResponse, incoming: Incoming, sequence: number): void {
  const isFirst = !sent.leg?.confirmed;
  const leg = isFirst || !sent.leg ? beginDialog(hub, sent, response, incoming) : sent.leg;
  sent.leg = leg;
  leg.confirmed = true;
  leg.peer = incoming.flow;
  refreshTarget(leg.dialog, response);
  if (isFirst && leg.dialog.remoteTarget.startsWith('sip')) latchCallee(leg, incoming.flow);
  finish(hub, sent, response);
  leg.peerAllowsUpdate = hasToken(response.headers, 'allow', 'update');
  leg.ack?.limit?.cancel();
  const unacknowledged = () => {
    sendAck(hub, leg, sequence);
    endLeg(hub, leg, 200, 'ACK timeout');
  };
  const limit = hub.clock.setTimer(unacknowledged, 64 * hub.sipTimes.t1Ms);
  leg.ack = { sequence, request: undefined, sent: undefined, limit };
  leg.endAfterAck = sent.canceled !== undefined && isFirst;
  watchSession(hub, leg, clientTimer(sent.transaction.request, response.headers));
  if (isFirst) hub.announceCdr({ verb: 'cdr:start', source: 'network', detail: 'uac', message: response });
}

/** Cleans up after a final answer of any kind. */
function finish(hub: Hub, sent: Sent, response: SipResponse): void {
  sent.failover?.cancel();
  const { leg } = sent;
  const { method } = sent.template;
  if (leg?.outgoingInvite === sent) leg.outgoingInvite = undefined;
  if (method === 'INVITE' && response.status >= 300 && !leg?.confirmed) {
    for (const early of sent.early) removeLeg(hub, early);
    const detail = sent.canceled ? 'call-canceled' : 'call-rejected';
    hub.announceCdr({ verb: 'cdr:stop', source: 'network', detail, message: response });
  }
  const isChallenge = response.status === 401 || response.status === 407;
  if (leg && method === 'BYE' && !isChallenge) {
    removeLeg(hub, leg);
    hub.announceCdr({
      verb: 'cdr:stop',
      source: 'application',
      detail: 'normal-release',
      message: sent.template,
    });
  }
  if (leg && endsSubscription(leg, sent.template)) removeLeg(hub, leg);
  if (leg && method === 'UPDATE' && response.status < 300) {
    refreshTarget(leg.dialog, response);
    watchSession(hub, leg, clientTimer(sent.template, response.headers) ?? leg.session);
  }
}

function endsSubscription(leg: Leg, request: SipRequest): boolean {
  const state = request.headers.get('subscription-state') ?? '';
  return leg.kind === 'SUBSCRIBE' && request.method === 'NOTIFY' && /^\s*terminated/i.test(state);
}

function deliver(hub: Hub, sent: Sent, response: SipResponse, incoming: Incoming): void {
  const isSubscribed =
    sent.template.method === 'SUBSCRIBE' && response.status >= 200 && response.status < 300;
  if (isSubscribed && !sent.leg) {
    sent.leg = newLeg(hub, sent, response, incoming);
    sent.leg.confirmed = true;
  }
  deliverResponse(
    hub,
    { owner: sent.owner, transactionId: sent.id, dialogId: sent.dialogId },
    response,
    incoming,
  );
}
