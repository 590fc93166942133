import type { Clock } from '../../../base/clock.ts';
import { CallwayError } from '../../../base/errors.ts';
import type { IncomingRequest } from '../../control/incoming.ts';
import type { SipResponse } from '../../control/outgoing.ts';
import type { Dialog } from '../dialog.ts';

/** Blind transfers of one leg, one at a time. @see RFC 3515, RFC 5589 section 6 */
export interface Transfers {
  /** @throws {CallwayError} `transfer_unsupported`, `transfer_failed`, `transfer_in_progress`. */
  transfer(referTo: string): Promise<void>;
  /** A NOTIFY about it. @returns Whether it was one. */
  onNotify(request: IncomingRequest): boolean;
  /** The leg ended: the peer left with the call, unless we hung up ourselves. */
  onLegEnded(isRemote: boolean): void;
}

/** A carrier lets the new callee ring for as long as any other. */
const OUTCOME_TIMEOUT_MS = 120_000;
/** Answers by which a peer takes no REFER at all; one that declines it declines whoever is named. */
const UNSUPPORTED: ReadonlySet<number> = new Set([405, 501, 603]);

/** @param isOnlyWay - The trunk wants nothing else: a peer that takes no REFER has refused the transfer. */
export function createTransfers(
  dialog: Dialog,
  referredBy: string,
  clock: Clock,
  isOnlyWay: boolean,
): Transfers {
  let settle: ((failure?: CallwayError) => void) | undefined;

  const refer = async (referTo: string): Promise<SipResponse> => {
    const headers = { 'Refer-To': `<${referTo}>`, 'Referred-By': `<${referredBy}>` };
    try {
      return await dialog.request('REFER', { headers });
    } catch (error) {
      throw failed('the call is gone', error);
    }
  };

  return {
    async transfer(referTo) {
      if (settle) {
        throw new CallwayError('conflict', 'transfer_in_progress', 'A transfer of this call is under way');
      }
      const outcome = new Promise<void>((resolve, reject) => {
        settle = (failure) => (failure ? reject(failure) : resolve());
      });
      // It may be settled while REFER still waits for its answer.
      outcome.catch(() => undefined);
      const late = clock.setTimer(
        () => settle?.(failed('the peer did not say how it went')),
        OUTCOME_TIMEOUT_MS,
      );
      try {
        const response = await refer(referTo);
        if (UNSUPPORTED.has(response.status) && !isOnlyWay)
          throw unsupported(`${response.status} ${response.reason}`);
        if (response.status >= 300) throw failed(`${response.status} ${response.reason}`);
        const isSilent = /^\s*false/i.test(response.text.header('refer-sub') ?? '');
        if (!isSilent) await outcome;
      } finally {
        late.cancel();
        settle = undefined;
      }
    },
    onNotify(request) {
      if (!/^\s*refer\b/i.test(request.text.header('event') ?? '')) return false;
      const status = Number(/^\s*SIP\/2\.0\s+(\d{3})/i.exec(request.text.body)?.[1] ?? 0);
      const reason = /^\s*SIP\/2\.0\s+\d{3}\s*(.*)$/im.exec(request.text.body)?.[1]?.trim() ?? '';
      const isLast = /^\s*terminated/i.test(request.text.header('subscription-state') ?? '');
      if (status >= 300) settle?.(failed(`${status} ${reason}`));
      // One that ends without a verdict was taken; the peer leaves us the call, or leaves with it.
      else if (status >= 200 || isLast) settle?.();
      return true;
    },
    onLegEnded: (isRemote) => settle?.(isRemote ? undefined : failed('the call ended')),
  };
}

/** The call may be handed over in another way. */
export function unsupported(why: string): CallwayError {
  return new CallwayError('unavailable', 'transfer_unsupported', `The peer takes no transfer: ${why}`);
}

function failed(why: string, cause?: unknown): CallwayError {
  return new CallwayError('unavailable', 'transfer_failed', `The transfer failed: ${why}`, { cause });
}
