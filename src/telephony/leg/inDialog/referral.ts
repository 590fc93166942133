import type { IncomingRequest } from '../../control/incoming.ts';
import type { Dialog } from '../dialog.ts';

/** A call that was to go elsewhere, and is still here then, has not gone. */
const GIVE_UP_MS = 60_000;

/**
 * Agrees to a REFER. The peer is told that it is under way; it sees that it succeeded when we hang up, and is told that
 * it failed as soon as that is known, or the call lives on for too long.
 *
 * @param after - Calls back once unless the call ends before.
 * @returns Tells the peer that it failed. Idempotent.
 * @see RFC 3515 section 2.4.4, RFC 4488
 */
export async function acceptReferral(
  request: IncomingRequest,
  dialog: Dialog,
  after: (delayMs: number, callback: () => void) => void,
): Promise<() => void> {
  const wantsNone = /^\s*false/i.test(request.text.header('refer-sub') ?? '');
  await request.respond(202, wantsNone ? { headers: { 'Refer-Sub': 'false' } } : {});
  if (wantsNone) return () => undefined;
  const notify = (state: string, progress: string) => {
    const headers = {
      Event: 'refer',
      'Subscription-State': state,
      'Content-Type': 'message/sipfrag;version=2.0',
    };
    // A peer that does not care how it goes may refuse to hear it.
    dialog.request('NOTIFY', { headers, body: `${progress}\r\n` }).catch(() => undefined);
  };
  notify(`active;expires=${GIVE_UP_MS / 1000}`, 'SIP/2.0 100 Trying');
  let isOver = false;
  const fail = (reason: 'timeout' | 'noresource') => {
    if (!isOver) notify(`terminated;reason=${reason}`, 'SIP/2.0 503 Service Unavailable');
    isOver = true;
  };
  after(GIVE_UP_MS, () => fail('timeout'));
  return () => fail('noresource');
}
