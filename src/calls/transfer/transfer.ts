import type { Clock } from '../../base/clock.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import type { StreamParty } from '../../voice/audioStream.ts';
import type { CallEvent } from '../runner/callMachine.ts';
import type { CallLeg } from '../telephony.ts';
import type { HoldMusicPlayer } from './holdMusicPlayer.ts';
import { LegTransfer } from './legTransfer.ts';
import { referToTargets } from './referral.ts';
import type { TransferPlan } from './transferPlan.ts';
import type { TransferReport } from './transferReport.ts';

export interface TransferDeps {
  /** The caller's. */
  readonly leg: Pick<CallLeg, 'refer'>;
  readonly media: MediaSession;
  /** The caller's number. */
  readonly caller: string;
  readonly music: HoldMusicPlayer;
  /** @throws {CallwayError} 422 when the project may not call the target. */
  readonly requireAllowedDestination: (to: string) => Promise<void>;
  /** Absent where only the peer may call the targets. @see dialTransferTarget */
  readonly dialTarget?: (to: string, ringTimeoutMs: number) => AsyncIterable<CallLeg>;
  /** A stream to a voice node for one of the parties. */
  readonly partyStream: (party: StreamParty) => Promise<StreamTarget>;
  readonly clock: Clock;
  readonly dispatch: (event: CallEvent) => void;
  /** A target has answered. @returns Call it when the target is gone: the time between is billed. */
  readonly startBilling: (to: string) => () => void;
  readonly report: (report: TransferReport) => void;
  readonly onError: (error: unknown, what: string) => void;
}

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
    const [to = ''] = plan.targets;
    deps.media
      .sendTransferStatus({ status: 'begun', to })
      .catch((error: unknown) => deps.onError(error, 'transfer: agent not told'));
    if (plan.mode === 'refer' && (await referToTargets(deps, plan)) === 'over') return;
    await legs.run();
  }
}
