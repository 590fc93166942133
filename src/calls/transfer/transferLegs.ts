import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { type Call, projectNumber } from '../call.ts';
import { normalizeNumber } from '../numbers/number.ts';
import type { CallLeg, DialRequest, Telephony } from '../telephony.ts';
import type { Trunk } from '../trunks/trunk.ts';
import type { TrunkChannel } from '../trunks/trunkSlots.ts';

export interface TransferLegDeps {
  readonly telephony: Pick<Telephony, 'dial'>;
  /** The trunks of the call's own number, in the order of trial. */
  readonly route: () => Promise<readonly Trunk[]>;
  /** Whether the project may pay for another leg. */
  readonly mayPay: () => Promise<boolean>;
  readonly channel: TrunkChannel;
  readonly clock: Clock;
}

/** A trunk whose calls of this second are used up has room in the next. */
const NEXT_SECOND_MS = 1000;
const USED_UP = 'this project’s calls have talked, or cost, as much as they may today';

/**
 * Calls whom a caller is transferred to: over one trunk of the call's own number after the other, as far as they have
 * room. The other phone shows the own number: whose else a trunk lets us show is not known.
 *
 * @param to - A number, or a `sip:` or `tel:` URI.
 * @param beside - The caller's audio.
 * @throws {CallwayError} `call_limit_used_up` where the project may not pay for another leg today.
 */
export async function* dialTransferTarget(
  deps: TransferLegDeps,
  call: Call,
  to: string,
  beside: MediaSession,
): AsyncGenerator<CallLeg> {
  if (!(await deps.mayPay())) throw new CallwayError('rate_limited', 'call_limit_used_up', USED_UP);
  try {
    for (const trunk of await deps.route()) {
      if (await hasRoom(deps, trunk)) yield deps.telephony.dial(requestOf(call, trunk, to, beside));
    }
  } finally {
    await deps.channel.release();
  }
}

async function hasRoom({ channel, clock }: TransferLegDeps, trunk: Trunk): Promise<boolean> {
  const waitMs = await channel.moveTo(trunk);
  if (waitMs === 0 || waitMs > NEXT_SECOND_MS) return waitMs === 0;
  await new Promise<void>((resolve) => clock.setTimer(resolve, waitMs));
  return (await channel.moveTo(trunk)) === 0;
}

function requestOf(call: Call, trunk: Trunk, to: string, beside: MediaSession): DialRequest {
  const { projectId, id: callId, settings } = call;
  const fromNumber = projectNumber(call);
  const number = to.replace(/^tel:/i, '');
  return {
    projectId,
    callId,
    trunk,
    fromNumber,
    toNumber: normalizeNumber(number) ?? number,
    asGiven: { fromNumber: settings.asGiven?.fromNumber ?? fromNumber, toNumber: number },
    ringTimeoutMs: settings.ringTimeoutSeconds * 1000,
    bridgeWith: beside,
    ...(/^sips?:/i.test(to) ? { targetUri: to } : {}),
  };
}
