import { isIP } from 'node:net';
import { type Dialog, dialogRequest, refreshTarget } from '../dialog/dialog.ts';
import {
  addToken,
  clientTimer,
  lengthened,
  type SessionTimer,
  sessionDelays,
} from '../dialog/sessionTimer.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../message/message.ts';
import { parseNameAddr } from '../message/nameAddr.ts';
import { formatReason } from '../message/reason.ts';
import { parseSipOnly, unbracketed } from '../message/uri.ts';
import { parseVia } from '../message/via.ts';
import type { ClientUser } from '../transaction/client.ts';
import type { Target } from '../transport/resolver.ts';
import type { Flow } from '../transport/types.ts';
import type { Owner } from './apps.ts';
import { type Acknowledging, type Hub, type Leg, sightingOf } from './hub.ts';
import { sipLine, UNSOLICITED } from './lines.ts';

/** Begins to keep a dialog. */
export function addLeg(
  hub: Hub,
  parts: Pick<Leg, 'id' | 'role' | 'kind' | 'owner' | 'peer'> & { dialog: Dialog; owner: Owner },
): Leg {
  const leg: Leg = {
    ...parts,
    confirmed: false,
    latched: undefined,
    answer: undefined,
    ack: undefined,
    lateRack: undefined,
    incomingInvite: undefined,
    outgoingInvite: undefined,
    localBody: undefined,
    peerAllowsUpdate: false,
    session: undefined,
    endAfterAck: false,
    sending: undefined,
  };
  hub.legs.add(leg);
  return leg;
}

/** Forgets a dialog and stops everything under way in it. Idempotent. */
export function removeLeg(hub: Hub, leg: Leg): void {
  leg.answer?.repeating.stop();
  leg.answer = undefined;
  leg.ack?.limit?.cancel();
  leg.session?.timer.cancel();
  leg.session = undefined;
  const { outgoingInvite } = leg;
  if (outgoingInvite) outgoingInvite.early = outgoingInvite.early.filter((one) => one !== leg);
  hub.legs.remove(leg);
}

/**
 * Notes where the peer really is: behind a NAT, or after its address changed, its Contact leads nowhere.
 *
 * Only believed when the peer is our direct neighbour, and its own Via shows that it does not know its address.
 */
export function latch(leg: Leg, request: SipRequest, flow: Flow): void {
  leg.peer = flow;
  const vias = request.headers.list('via');
  if (leg.dialog.routeSet.length > 0 || vias.length !== 1) return;
  const top = parseVia(vias[0] ?? '');
  const host = unbracketed(top.host);
  const port = top.port ?? (top.transport === 'TLS' ? 5061 : 5060);
  const isMistaken =
    isIP(host) > 0 && (host !== flow.remote.address || (!flow.reliable && port !== flow.remote.port));
  leg.latched = isMistaken ? flow : undefined;
}

/** A callee that answers from a public address and names a private one cannot be reached there either. */
export function latchCallee(leg: Leg, flow: Flow): void {
  if (leg.dialog.routeSet.length > 0) return;
  const { host } = parseSipOnly(leg.dialog.remoteTarget);
  if (PRIVATE.test(host) && !PRIVATE.test(flow.remote.address)) leg.latched = flow;
}

/** @see RFC 1918, RFC 6598 */
const PRIVATE =
  /^(?:10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;

/** Where the next request of a dialog goes: the latched place, or the first route, or the remote target. */
export function locateLeg(hub: Hub, leg: Leg): Target[] | Promise<Target[]> {
  if (leg.latched) return [leg.latched.remote];
  const [route] = leg.dialog.routeSet;
  const uri = route === undefined ? leg.dialog.remoteTarget : parseNameAddr(route).uri;
  const found = hub.locate(parseSipOnly(uri));
  // The connection that the peer made still stands, while its Contact may name a port on which nobody listens.
  if (!leg.peer.reliable || route !== undefined || !hub.transport.isConnected(leg.peer.remote)) return found;
  const connected: Target = leg.peer.remote;
  return Array.isArray(found) ? [connected, ...found] : found.then((targets) => [connected, ...targets]);
}

/**
 * Does something that depends on a place, at once when it is known, else in turn.
 *
 * @param onFailure - The place leads nowhere, or doing it threw.
 */
export function inOrder(
  leg: Leg | undefined,
  find: () => Target[] | Promise<Target[]>,
  act: (targets: Target[]) => void,
  onFailure: (error: unknown) => void,
): void {
  const attempt = (): void | Promise<void> => {
    const targets = find();
    return Array.isArray(targets) ? act(targets) : targets.then(act);
  };
  if (leg?.sending === undefined) {
    try {
      const outcome = attempt();
      if (outcome && leg) follow(leg, outcome.catch(onFailure));
      else if (outcome) outcome.catch(onFailure);
    } catch (error) {
      onFailure(error);
    }
    return;
  }
  follow(leg, leg.sending.then(attempt).catch(onFailure));
}

function follow(leg: Leg, work: Promise<void>): void {
  leg.sending = work;
  work.then(() => {
    if (leg.sending === work) leg.sending = undefined;
  });
}

/** Sends a request of the server's own inside a dialog. Nobody but `user` hears how it went. */
export function sendOwn(hub: Hub, leg: Leg, request: SipRequest, user: Partial<ClientUser> = {}): void {
  inOrder(
    leg,
    () => locateLeg(hub, leg),
    ([target]) => {
      if (!target) return;
      hub.transactions.request(request, hub.transport.flowTo(target), {
        onResponse: (response, incoming) => user.onResponse?.(response, incoming),
        onTimeout: () => user.onTimeout?.(),
        onTransportError: (error) => user.onTransportError?.(error),
      });
    },
    () => hub.counters.count('requests.unroutable'),
  );
}

/** Ends a call on the server's own account, and tells the application why. */
export function endLeg(hub: Hub, leg: Leg, cause: number, why: string): void {
  const bye = dialogRequest(leg.dialog, 'BYE');
  bye.headers.add('reason', formatReason({ protocol: 'SIP', cause, text: why }));
  removeLeg(hub, leg);
  sendOwn(hub, leg, bye);
  hub.counters.count('dialogs.ended_by_server');
  const seen = sightingOf(hub, leg.peer.local, formatMessage(bye).length);
  const line = {
    source: 'application',
    sighting: seen,
    transactionId: UNSOLICITED,
    dialogId: leg.id,
  } as const;
  leg.owner.send(sipLine(hub.ids.uuid(), line, formatMessage(bye)));
  const detail = why === 'Session timer expired' ? 'session-expires' : 'system-initiated-termination';
  hub.announceCdr({ verb: 'cdr:stop', source: 'application', detail, message: bye });
}

/** Acknowledges a 2xx to an INVITE of ours, and keeps the ACK in case the 2xx comes again. */
export function sendAck(hub: Hub, leg: Leg, sequence: number, fill?: (ack: SipRequest) => void): SipRequest {
  const ack = dialogRequest(leg.dialog, 'ACK', sequence);
  fill?.(ack);
  leg.ack?.limit?.cancel();
  const sending: Acknowledging = { sequence, request: ack, sent: undefined, limit: undefined };
  leg.ack = sending;
  inOrder(
    leg,
    () => locateLeg(hub, leg),
    ([target]) => {
      if (!target) return;
      const flow = hub.transport.flowTo(target);
      const copy = { ...ack, headers: ack.headers.clone() };
      sending.sent = { flow, text: hub.transactions.sendOnce(copy, flow) };
    },
    () => hub.counters.count('requests.unroutable'),
  );
  return ack;
}

/** Sends the very same ACK again: a peer that has it knows it by its branch. @see RFC 3261 section 13.2.2.4 */
export function repeatAck({ sent }: Acknowledging): void {
  sent?.flow.send(sent.text);
}

/** Starts, restarts or (without timer) ends the watch over a session. @see RFC 4028 */
export function watchSession(hub: Hub, leg: Leg, timer: SessionTimer | undefined): void {
  leg.session?.timer.cancel();
  leg.session = undefined;
  if (!timer) return;
  const { refreshMs, expireMs } = sessionDelays(timer);
  const fire = timer.weRefresh
    ? () => refreshSession(hub, leg, timer)
    : () => endLeg(hub, leg, 408, 'Session timer expired');
  leg.session = { ...timer, timer: hub.clock.setTimer(fire, timer.weRefresh ? refreshMs : expireMs) };
}

/** Refreshes by UPDATE where the peer can, else by the last offer again; the application need not know. */
function refreshSession(hub: Hub, leg: Leg, timer: SessionTimer): void {
  if (leg.outgoingInvite || leg.incomingInvite) {
    retrySession(hub, leg, timer);
    return;
  }
  const { intervalSeconds, minimumSeconds } = timer;
  const method = leg.peerAllowsUpdate || !leg.localBody ? 'UPDATE' : 'INVITE';
  const request = dialogRequest(leg.dialog, method);
  request.headers.add('contact', leg.dialog.localTarget);
  request.headers.add('session-expires', `${intervalSeconds};refresher=uac`);
  if (minimumSeconds !== undefined) request.headers.add('min-se', String(minimumSeconds));
  addToken(request.headers, 'supported', 'timer');
  if (method === 'INVITE' && leg.localBody) {
    request.headers.add('content-type', leg.localBody.type);
    request.body = leg.localBody.body;
  }
  hub.counters.count('sessions.refreshed');
  const gone = () => endLeg(hub, leg, 408, 'Session timer expired');
  leg.session = { ...timer, timer: hub.clock.setTimer(gone, (intervalSeconds * 1000) / 2) };
  sendOwn(hub, leg, request, {
    onResponse: (response) => onRefreshed(hub, leg, request, response, timer),
    onTimeout: gone,
    onTransportError: gone,
  });
}

function onRefreshed(
  hub: Hub,
  leg: Leg,
  request: SipRequest,
  response: SipResponse,
  timer: SessionTimer,
): void {
  if (response.status < 200 || !hub.legs.has(leg)) return;
  const longer = response.status === 422 ? lengthened(timer, response.headers) : undefined;
  if (response.status === 408 || response.status === 481) endLeg(hub, leg, 408, 'Session timer expired');
  else if (longer) refreshAgain(hub, leg, longer);
  else if (response.status >= 300) retrySession(hub, leg, timer);
  else {
    refreshTarget(leg.dialog, response);
    if (request.method === 'INVITE') sendAck(hub, leg, Number(request.headers.get('cseq')?.split(' ')[0]));
    watchSession(hub, leg, clientTimer(request, response.headers));
  }
}

/** The peer wants a longer interval, and gets it. @see RFC 4028 section 7.4 */
function refreshAgain(hub: Hub, leg: Leg, timer: SessionTimer): void {
  leg.session?.timer.cancel();
  refreshSession(hub, leg, timer);
}

/** A refresh that could not be sent now, or was refused for now, is tried again well before the end. */
function retrySession(hub: Hub, leg: Leg, timer: SessionTimer): void {
  leg.session?.timer.cancel();
  const again = () => refreshSession(hub, leg, timer);
  leg.session = { ...timer, timer: hub.clock.setTimer(again, (timer.intervalSeconds * 1000) / 8) };
}
