import { LegTransfer } from './legTransfer.ts';
import { referToTargets } from './referral.ts';
import type { TransferDeps } from './transferDeps.ts';
import type { TransferPlan } from './transferPlan.ts';

/** A transfer in progress. */
export interface Transfer {
  /** The caller has put us on hold, or resumed. */
  setCallerHeld(isHeld: boolean): void;
  /** Hangs up the targets, since the call ends. Resolves when none is left. Idempotent. */
  cancel(): Promise<void>;
}

/**
 * Transfers a call: by REFER, by legs of our own, or by legs where the peer takes no REFER. Runs until the caller is back
 * with the agent, or one of the joined parties hangs up.
 */
export function startTransfer(deps: TransferDeps, plan: TransferPlan, isCallerHeld: boolean): Transfer {
  const legs = new LegTransfer(deps, plan);
  legs.setCallerHeld(isCallerHeld);
  const ended = run();
  return {
    setCallerHeld: (isHeld) => legs.setCallerHeld(isHeld),
    async cancel() {
      legs.cancel();
      await ended;
    },
  };

  async function run(): Promise<void> {
    const [{ to } = { to: '' }] = plan.targets;
    deps.media
      .tellAgent({ kind: 'transfer', status: 'begun', to })
      .catch((error: unknown) => deps.onError(error, 'transfer: agent not told'));
    if (plan.mode === 'refer' && (await referToTargets(deps, plan)) === 'over') return;
    await legs.run();
  }
}
