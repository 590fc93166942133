import { repeat } from '../dialog/repetition.ts';
import { hasToken } from '../dialog/sessionTimer.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import type { RAck } from '../message/sequence.ts';
import { parseCSeq } from '../message/sequence.ts';
import type { Hub, Leg, Pending } from './hub.ts';

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
  hub: Hub,
  pending: Pending,
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
export function whenAcknowledged(pending: Pending, action: () => void): void {
  const { reliable } = pending;
  if (reliable.current?.hasBody || reliable.waiting.length > 0) reliable.waiting.push(action);
  else action();
}

/** @returns Whether the PRACK belongs to the answer under way. */
export function acknowledgeReliable(hub: Hub, leg: Leg, rack: RAck): boolean {
  const pending = leg.incomingInvite;
  const current = pending?.reliable.current;
  if (!pending || !current || rack.responseNumber !== current.number) return false;
  const { sequence } = parseCSeq(pending.transaction.request.headers.get('cseq') ?? '');
  if (rack.sequence !== sequence || rack.method !== 'INVITE') return false;
  current.repeating.stop();
  pending.reliable.current = undefined;
  // The application hears of the PRACK first, then of what waited for it.
  hub.clock.setTimer(() => runWaiting(pending), 0);
  return true;
}

function runWaiting(pending: Pending): void {
  while (!pending.reliable.current) {
    const next = pending.reliable.waiting.shift();
    if (!next) return;
    next();
  }
}
