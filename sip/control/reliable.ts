import { repeat } from '../dialog/repetition.ts';
import { hasToken } from '../dialog/sessionTimer.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import type { RAck } from '../message/sequence.ts';
import { parseCSeq } from '../message/sequence.ts';
import type { ServerTransaction } from '../transaction/server.ts';
import type { Hub, Leg, Pending } from './hub.ts';

/** What of a pending request reliable answers are about. */
interface ReliablePending {
  readonly transaction: Pick<ServerTransaction, 'request' | 'respond'>;
  readonly reliable: Pending['reliable'];
}

/** Whether the caller lets provisional answers be reliable. @see RFC 3262 section 3 */
export function offersReliable(request: SipRequest): boolean {
  return hasToken(request.headers, 'supported', '100rel') || hasToken(request.headers, 'require', '100rel');
}

/**
 * Sends a provisional answer until it is acknowledged; a second one waits for the first.
 *
 * @param sent - Called when it goes out, with its RSeq in it.
 * @param onGiveUp - Nobody acknowledged it in 64·T1: the call cannot go on.
 */
export function sendReliable(
  hub: Pick<Hub, 'clock' | 'sipTimes'>,
  pending: ReliablePending,
  response: SipResponse,
  sent: (response: SipResponse) => void,
  onGiveUp: () => void,
): void {
  const queue = pending.reliable;
  const go = (): void => {
    const number = queue.nextNumber;
    queue.nextNumber += 1;
    response.headers.set('rseq', String(number));
    pending.transaction.respond(response);
    const times = { t1Ms: hub.sipTimes.t1Ms, maxGapMs: Number.POSITIVE_INFINITY };
    const repeating = repeat(hub.clock, times, {
      send: () => pending.transaction.respond(response),
      giveUp: onGiveUp,
    });
    queue.current = { number, repeating, hasBody: response.body !== '' };
    sent(response);
  };
  if (queue.current) queue.waiting.push(go);
  else go();
}

/** A final answer must wait while an offer or answer of ours is not known to have arrived. @see RFC 3262 section 3 */
export function whenAcknowledged(pending: ReliablePending, action: () => void): void {
  const { reliable } = pending;
  if (reliable.current?.hasBody || reliable.waiting.length > 0) reliable.waiting.push(action);
  else action();
}

/** @returns Whether the PRACK belongs to the answer under way, or to one that the final answer overtook. */
export function acknowledgeReliable(
  hub: Pick<Hub, 'clock'>,
  leg: { readonly incomingInvite: ReliablePending | undefined; lateRack: Leg['lateRack'] },
  rack: RAck,
): boolean {
  if (rack.method !== 'INVITE') return false;
  const { incomingInvite: pending, lateRack } = leg;
  if (lateRack?.responseNumber === rack.responseNumber && lateRack.sequence === rack.sequence) {
    leg.lateRack = undefined;
    return true;
  }
  const current = pending?.reliable.current;
  if (!pending || rack.responseNumber !== current?.number || rack.sequence !== sequenceOf(pending))
    return false;
  current.repeating.stop();
  pending.reliable.current = undefined;
  // The application hears of the PRACK first, then of what waited for it.
  hub.clock.setTimer(() => runWaiting(pending), 0);
  return true;
}

/**
 * The final answer ends the repetition of a provisional one; that its PRACK may still come is remembered.
 *
 * @see RFC 3262 section 3
 */
export function stopReliable(pending: ReliablePending, leg: Pick<Leg, 'lateRack'> | undefined): void {
  const { current } = pending.reliable;
  pending.reliable.waiting = [];
  if (!current) return;
  current.repeating.stop();
  if (leg) leg.lateRack = { responseNumber: current.number, sequence: sequenceOf(pending) };
}

function sequenceOf({ transaction }: ReliablePending): number {
  return parseCSeq(transaction.request.headers.get('cseq') ?? '').sequence;
}

function runWaiting(pending: ReliablePending): void {
  while (!pending.reliable.current) {
    const next = pending.reliable.waiting.shift();
    if (!next) return;
    next();
  }
}
