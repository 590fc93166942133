import { startRetransmission } from '../../dialog/retransmission.ts';
import { hasToken } from '../../dialog/sessionTimer.ts';
import type { RAck } from '../../message/fields/sequence.ts';
import { parseCSeq } from '../../message/fields/sequence.ts';
import type { SipRequest, SipResponse } from '../../message/message.ts';
import type { ServerTransaction } from '../../transaction/server.ts';
import type { Core, Dialog, IncomingRequest } from '../core.ts';

/** The parts of an incoming request that reliable provisional responses need. */
interface ReliablePending {
  readonly transaction: ServerTransaction;
  readonly reliable: IncomingRequest['reliable'];
}

/** Returns true when the caller supports 100rel. @see RFC 3262 section 3 */
export function supportsReliable(request: SipRequest): boolean {
  return hasToken(request.headers, 'supported', '100rel') || hasToken(request.headers, 'require', '100rel');
}

/**
 * Retransmits a provisional response until its PRACK; a second one waits for the first.
 *
 * @param sent - Called with its RSeq when it is sent.
 * @param onGiveUp - Called when there is no PRACK for 64·T1, so that the call fails.
 */
export function sendReliable(
  core: Core,
  incoming: ReliablePending,
  response: SipResponse,
  sent: (response: SipResponse) => void,
  onGiveUp: () => void,
): void {
  const queue = incoming.reliable;
  const go = (): void => {
    const number = queue.nextNumber;
    queue.nextNumber += 1;
    response.headers.set('rseq', String(number));
    incoming.transaction.respond(response);
    const times = { t1Ms: core.sipTimes.t1Ms, maxGapMs: Number.POSITIVE_INFINITY };
    const retransmission = startRetransmission(core.clock, times, {
      send: () => incoming.transaction.respond(response),
      giveUp: onGiveUp,
    });
    queue.current = { number, retransmission, hasBody: response.body !== '' };
    sent(response);
  };
  if (queue.current) queue.waiting.push(go);
  else go();
}

/** A 2xx must wait while our offer or answer in a reliable response is unacknowledged. @see RFC 3262 section 3 */
export function whenAcknowledged(incoming: ReliablePending, action: () => void): void {
  const { reliable } = incoming;
  if (reliable.current?.hasBody || reliable.waiting.length > 0) reliable.waiting.push(action);
  else action();
}

/** @returns True when the PRACK matches the pending reliable response, or the last one before the final response. */
export function acknowledgeReliable(
  core: Core,
  dialog: { readonly incomingInvite: ReliablePending | undefined; lateRack: Dialog['lateRack'] },
  rack: RAck,
): boolean {
  if (rack.method !== 'INVITE') return false;
  const { incomingInvite: incoming, lateRack } = dialog;
  if (lateRack?.responseNumber === rack.responseNumber && lateRack.sequence === rack.sequence) {
    dialog.lateRack = undefined;
    return true;
  }
  const current = incoming?.reliable.current;
  if (!incoming || rack.responseNumber !== current?.number || rack.sequence !== sequenceOf(incoming))
    return false;
  current.retransmission.stop();
  incoming.reliable.current = undefined;
  // The application receives the PRACK before what waited for it.
  core.clock.setTimer(() => runWaiting(incoming), 0);
  return true;
}

/**
 * The final response ends the retransmission of a provisional one, whose PRACK may still arrive.
 *
 * @see RFC 3262 section 3
 */
export function endReliable(incoming: ReliablePending, dialog: Dialog | undefined): void {
  const { current } = incoming.reliable;
  incoming.reliable.waiting = [];
  if (!current) return;
  current.retransmission.stop();
  if (dialog) dialog.lateRack = { responseNumber: current.number, sequence: sequenceOf(incoming) };
}

function sequenceOf({ transaction }: ReliablePending): number {
  return parseCSeq(transaction.request.headers.get('cseq') ?? '').sequence;
}

function runWaiting(incoming: ReliablePending): void {
  while (!incoming.reliable.current) {
    const next = incoming.reliable.waiting.shift();
    if (!next) return;
    next();
  }
}
