import type { TransferTarget } from '../../agents/transferTarget.ts';
import type { Clock } from '../../base/values/clock.ts';
import { normalizeNumber } from '../../base/values/e164.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { type Call, projectNumber } from '../call.ts';
import type { CallLeg, DialRequest, Telephony } from '../telephony.ts';
import type { Trunk } from '../trunks/trunk.ts';
import { isHostItself } from '../trunks/trunkSelection.ts';
import type { TrunkChannel } from '../trunks/trunkSlots.ts';

export interface TransferLegDeps {
  readonly telephony: Telephony;
  /** @see selectTrunks */
  readonly trunks: (target: TransferTarget) => Promise<readonly Trunk[]>;
  /**
   * Counts another call of the project.
   *
   * @returns The target with the trunk of the agent's `transferTargets`, if that has one.
   * @throws {CallwayError} When its limits do not allow it.
   */
  readonly admit: (target: TransferTarget) => Promise<TransferTarget>;
  /** Returns the session's variables, for the trunks' headers. */
  readonly variables: () => Promise<Readonly<Record<string, unknown>>>;
  readonly allowedRedirects: () => Promise<DialRequest['mayRedirectTo']>;
  readonly channel: TrunkChannel;
  readonly clock: Clock;
}

/** A trunk at its limit of calls per second has room in the next second; one without a free channel has not. */
const MAX_WAIT_MS = 1000;
/** Other targets, and other calls, wait for the same trunk: the last of ten at once gets its turn. */
const MAX_WAITS = 10;

/**
 * Dials a transfer target over its trunk, or those of the call's project number, one after the other, skipping trunks
 * without a free channel. The caller ID is the project number: which others a trunk accepts is unknown.
 *
 * @param given - A number, or a `sip:` or `tel:` URI.
 * @param options.bridgeWith - The caller's media session.
 * @throws {CallwayError} When the project's limits do not allow the call, or it has no such trunk.
 */
export async function* dialTransferTarget(
  deps: TransferLegDeps,
  call: Call,
  given: TransferTarget,
  options: { readonly bridgeWith: MediaSession; readonly ringTimeoutMs: number },
): AsyncGenerator<CallLeg> {
  const { to } = given;
  const target = await deps.admit({ ...given, to: normalizeNumber(to.replace(/^tel:/i, '')) ?? to });
  const mayRedirectTo = await deps.allowedRedirects();
  const variables = await deps.variables();
  try {
    for (const trunk of await deps.trunks(target)) {
      if (await hasChannel(deps, trunk))
        yield deps.telephony.dial({ ...requestOf(call, trunk, to), ...options, variables, mayRedirectTo });
    }
  } finally {
    await deps.channel.release();
  }
}

async function hasChannel({ channel, clock }: TransferLegDeps, trunk: Trunk): Promise<boolean> {
  if (isHostItself(trunk)) return true;
  for (let waits = 0; ; waits++) {
    const waitMs = await channel.moveTo(trunk);
    if (waitMs === 0) return true;
    if (waitMs > MAX_WAIT_MS || waits === MAX_WAITS) return false;
    await new Promise<void>((resolve) => clock.setTimer(resolve, waitMs));
  }
}

function requestOf(
  call: Call,
  trunk: Trunk,
  to: string,
): Omit<DialRequest, 'mayRedirectTo' | 'ringTimeoutMs'> {
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
    ...(/^sips?:/i.test(to) ? { targetUri: to } : {}),
  };
}
