import type { IncomingRequest } from '../control/incoming.ts';
import type { Dialog } from './dialog.ts';

/** A call that was to go elsewhere, and is still here then, has not gone. */
const GIVE_UP_MS = 60_000;

/**
 * Agrees to a REFER. The peer is told that it is under way; it sees that it succeeded when we hang up, and is told that
 * it failed when the call lives on.
 *
 * @param after - Calls back once unless the call ends before.
 * @see RFC 3515 section 2.4.4, RFC 4488
 */
export async function acceptReferral(
  request: IncomingRequest,
  dialog: Dialog,
  after: (delayMs: number, callback: () => void) => void,
): Promise<void> {
  const wantsNone = /^\s*false/i.test(request.text.header('refer-sub') ?? '');
  await request.respond(202, wantsNone ? { headers: { 'Refer-Sub': 'false' } } : {});
  if (wantsNone) return;
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
  after(GIVE_UP_MS, () => notify('terminated;reason=timeout', 'SIP/2.0 503 Service Unavailable'));
}
