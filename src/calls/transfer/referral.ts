import type { TransferOutcome } from '../../agents/transferOptions.ts';
import { CallwayError } from '../../base/errors.ts';
import type { CallLeg } from '../telephony.ts';
import type { TransferDeps } from './transferDeps.ts';
import type { TransferPlan } from './transferPlan.ts';

/** The target's phone takes the call without ringing. */
const REPLACED_TIMEOUT_MS = 15_000;
const OUTCOMES: Readonly<Record<number, TransferOutcome>> = {
  408: 'no_answer',
  480: 'no_answer',
  486: 'busy',
  600: 'busy',
  603: 'refused',
  607: 'refused',
  608: 'refused',
};

/**
 * Asks the caller's side to call the targets, one after the other.
 *
 * @returns `unsupported` where it takes no REFER and the targets may be dialed.
 */
export async function referToTargets(
  deps: TransferDeps,
  plan: TransferPlan,
): Promise<'over' | 'unsupported'> {
  const { dispatch, media, onError } = deps;
  for (const [index, { to }] of plan.targets.entries()) {
    const targetsLeft = plan.targets.length - index - 1;
    const report = { to, mode: plan.mode, by: 'refer' } as const;
    try {
      await deps.parties.requireAllowed(to, !deps.mayDial);
      dispatch({ type: 'transfer_referring' });
      deps.report({ ...report, status: 'started' });
      await deps.leg.refer(to, plan.isTimeoutGiven ? plan.timeoutMs : undefined);
      deps.report({ ...report, status: 'joined' });
      dispatch({ type: 'transfer_done' });
      return 'over';
    } catch (error) {
      if (isUnsupported(error) && deps.mayDial) return 'unsupported';
      const outcome = outcomeOf(error);
      const reason = error instanceof Error ? error.message : 'unknown';
      const status = outcome === 'refused' ? outcome : 'failed';
      deps.report({ ...report, status, outcome, reason, targetsLeft });
      if (targetsLeft > 0) continue;
      media
        .tellAgent({ kind: 'transfer', status: 'failed', to, outcome, reason })
        .catch((cause: unknown) => onError(cause, 'transfer: agent not told'));
      dispatch({ type: 'transfer_failed' });
    }
  }
  return 'over';
}

/**
 * Asks the caller's side to put a call of its own in the place of both of ours: it is the target's side too, and the
 * trunk's transfers are by REFER.
 *
 * @param target - The target's leg.
 * @returns False when no REFER was sent. @throws For the same reasons as `CallLeg.refer`; both calls then continue
 *   through us.
 */
export async function referToReplace(
  caller: TransferDeps['leg'],
  target: CallLeg | undefined,
): Promise<boolean> {
  const uri = target?.replacingUri;
  if (caller.transferMethod !== 'refer' || target?.trunkId !== caller.trunkId || uri === undefined)
    return false;
  await caller.refer(uri, REPLACED_TIMEOUT_MS);
  return true;
}

function isUnsupported(error: unknown): boolean {
  return error instanceof CallwayError && error.code === 'transfer_unsupported';
}

function outcomeOf(error: unknown): TransferOutcome {
  const status = error instanceof CallwayError ? error.extra?.sipStatus : undefined;
  return (typeof status === 'number' ? OUTCOMES[status] : undefined) ?? 'failed';
}
