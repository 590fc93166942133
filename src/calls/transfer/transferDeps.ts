import type { TransferTarget } from '../../agents/transferTarget.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { StreamParty } from '../../conversation/streams/audioStream.ts';
import type { StreamTarget } from '../../media/agentStream/streamClient.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import type { CallEvent } from '../runner/callMachine.ts';
import type { CallLeg } from '../telephony.ts';
import type { HoldMusicPlayer } from './holdMusicPlayer.ts';
import type { TransferReport } from './transferReport.ts';

/** The dependencies of a transfer. */
export interface TransferDeps {
  /** The caller's leg. */
  readonly leg: Pick<CallLeg, 'refer' | 'trunkId' | 'transferMethod'>;
  readonly media: MediaSession;
  /** The caller's number. */
  readonly caller: string;
  readonly music: HoldMusicPlayer;
  /** @see CallLimiter.requireAllowedDestination @throws {CallwayError} 422 when the project may not call the target. */
  readonly requireAllowedDestination: (to: string, isPeersWish: boolean) => Promise<void>;
  /** Dials a target; undefined when only the peer may call the targets. @see dialTransferTarget */
  readonly dialTarget?: (target: TransferTarget, ringTimeoutMs: number) => AsyncIterable<CallLeg>;
  /** A stream to a voice node for one of the parties. */
  readonly partyStream: (party: StreamParty) => Promise<StreamTarget>;
  readonly clock: Clock;
  readonly dispatch: (event: CallEvent) => void;
  /** A target has answered. @returns Call it when the target is gone: the time between is billed. */
  readonly startBilling: (to: string) => () => void;
  readonly report: (report: TransferReport) => void;
  readonly onError: (error: unknown, what: string) => void;
}
