import { formatUri } from '../../../../sip/message/fields/uri.ts';
import { CallwayError } from '../../../base/errors.ts';
import type { Clock } from '../../../base/values/clock.ts';
import type { StoredDialog } from '../../../calls/dialogStore.ts';
import type { ReceivedResponse } from '../../control/connection.ts';
import type { IncomingRequest } from '../../control/incoming.ts';
import { readAddress, readUri } from '../../sip/headerValues.ts';
import type { Dialog } from '../dialog.ts';

/** Transfers of one leg by REFER, one at a time. @see RFC 3515, RFC 5589 sections 6 and 7 */
export interface Transfers {
  /** @throws {CallwayError} `transfer_unsupported`, `transfer_failed`, `transfer_in_progress`. */
  transfer(referTo: string, timeoutMs?: number): Promise<void>;
  /** Handles a NOTIFY. @returns True when it reports on a transfer. */
  onNotify(request: IncomingRequest): boolean;
  /** @param isRemote - True when the peer hung up, which completes a transfer. */
  onLegEnded(isRemote: boolean): void;
}

/** A carrier lets the transfer target ring for as long as any other callee. */
const NOTIFY_TIMEOUT_MS = 120_000;
/** The peer supports no REFER; 603 declines it for every target. */
const UNSUPPORTED: ReadonlySet<number> = new Set([405, 501, 603]);
const REQUEST_TIMEOUT = 408;
/** A referral that did not end the call within this time has failed. */
const REFERRAL_TIMEOUT_MS = 60_000;

/** @param isOnlyWay - REFER is the trunk's only transfer method: a peer without REFER has refused the transfer. */
export function createTransfers(
  dialog: Dialog,
  referredBy: string,
  clock: Clock,
  isOnlyWay: boolean,
): Transfers {
  let settle: ((failure?: CallwayError) => void) | undefined;

  const refer = async (referTo: string): Promise<ReceivedResponse> => {
    const headers = { 'Refer-To': `<${referTo}>`, 'Referred-By': `<${referredBy}>` };
    try {
      return await dialog.request('REFER', { headers });
    } catch (error) {
      throw failed('the call is gone', { cause: error });
    }
  };

  return {
    async transfer(referTo, timeoutMs = NOTIFY_TIMEOUT_MS) {
      if (settle) {
        throw new CallwayError('conflict', 'transfer_in_progress', 'A transfer of this call is under way');
      }
      const result = new Promise<void>((resolve, reject) => {
        settle = (failure) => (failure ? reject(failure) : resolve());
      });
      // A NOTIFY may settle it before REFER is answered.
      result.catch(() => undefined);
      const timeout = clock.setTimer(
        () => settle?.(failed('the peer did not say how it went', { sipStatus: REQUEST_TIMEOUT })),
        timeoutMs,
      );
      try {
        const { status, reason, headers } = (await refer(referTo)).message;
        if (UNSUPPORTED.has(status) && !isOnlyWay) throw unsupported(`${status} ${reason}`);
        if (status >= 300) throw failed(`${status} ${reason}`, { sipStatus: status });
        const hasSubscription = !/^\s*false/i.test(headers.get('refer-sub') ?? '');
        if (hasSubscription) await result;
      } finally {
        timeout.cancel();
        settle = undefined;
      }
    },
    onNotify({ message: { headers, body } }) {
      if (!/^\s*refer\b/i.test(headers.get('event') ?? '')) return false;
      const status = Number(/^\s*SIP\/2\.0\s+(\d{3})/i.exec(body)?.[1] ?? 0);
      const reason = /^\s*SIP\/2\.0\s+\d{3}\s*(.*)$/im.exec(body)?.[1]?.trim() ?? '';
      const isLast = /^\s*terminated/i.test(headers.get('subscription-state') ?? '');
      if (status >= 300) settle?.(failed(`${status} ${reason}`, { sipStatus: status }));
      // A subscription that ends without a final status means that REFER was accepted.
      else if (status >= 200 || isLast) settle?.();
      return true;
    },
    onLegEnded: (isRemote) => settle?.(isRemote ? undefined : failed('the call ended')),
  };
}

/**
 * Accepts a REFER. The peer is notified at once that the referral is in progress, and again when it fails or times out;
 * our BYE tells it of success.
 *
 * @param after - Calls back once, unless the call ends before.
 * @returns Notifies the peer of failure. Idempotent.
 * @see RFC 3515 section 2.4.4, RFC 4488
 */
export async function acceptReferral(
  request: IncomingRequest,
  dialog: Dialog,
  after: (delayMs: number, callback: () => void) => void,
): Promise<() => void> {
  const hasSubscription = !/^\s*false/i.test(request.message.headers.get('refer-sub') ?? '');
  await request.respond(202, hasSubscription ? {} : { headers: { 'Refer-Sub': 'false' } });
  if (!hasSubscription) return () => undefined;
  const notify = (state: string, progress: string) => {
    const headers = {
      Event: 'refer',
      'Subscription-State': state,
      'Content-Type': 'message/sipfrag;version=2.0',
    };
    // The peer may reject the NOTIFY; the referral is unaffected.
    dialog.request('NOTIFY', { headers, body: `${progress}\r\n` }).catch(() => undefined);
  };
  notify(`active;expires=${REFERRAL_TIMEOUT_MS / 1000}`, 'SIP/2.0 100 Trying');
  let isOver = false;
  const fail = (reason: 'timeout' | 'noresource') => {
    if (!isOver) notify(`terminated;reason=${reason}`, 'SIP/2.0 503 Service Unavailable');
    isOver = true;
  };
  after(REFERRAL_TIMEOUT_MS, () => fail('timeout'));
  return () => fail('noresource');
}

/**
 * The URI by which another party calls the peer of our dialog and takes our place in it. The tags are named as the peer
 * sees them: its own is `to-tag`.
 *
 * @returns Undefined when the peer has no `sip:` URI.
 * @see RFC 3891 section 6.1, RFC 5589 section 7.3
 */
export function replacingUri({
  sipCallId,
  localAddress,
  remoteAddress,
  remoteTarget,
}: Pick<StoredDialog, 'sipCallId' | 'localAddress' | 'remoteAddress' | 'remoteTarget'>): string | undefined {
  const target = readUri(remoteTarget);
  if (!target || target.scheme === 'tel') return undefined;
  const replaces = `${sipCallId};to-tag=${tagOf(remoteAddress)};from-tag=${tagOf(localAddress)}`;
  // A peer that knows no Replaces refuses the call rather than let the phone ring again.
  return formatUri({ ...target, headers: `Replaces=${encodeURIComponent(replaces)}&Require=replaces` });
}

function tagOf(address: string): string {
  return readAddress(address)?.params.get('tag') ?? '';
}

/** The call may be transferred by other means. */
export function unsupported(why: string): CallwayError {
  return new CallwayError('unavailable', 'transfer_unsupported', `The peer takes no transfer: ${why}`);
}

function failed(
  why: string,
  { cause, sipStatus }: { readonly cause?: unknown; readonly sipStatus?: number } = {},
): CallwayError {
  const extra = sipStatus === undefined ? {} : { extra: { sipStatus } };
  return new CallwayError('unavailable', 'transfer_failed', `The transfer failed: ${why}`, {
    cause,
    ...extra,
  });
}
