import type { Clock } from '../../base/values/clock.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import type { CallEvent } from '../runner/callMachine.ts';
import type { CallLeg } from '../telephony.ts';
import type { CallParties } from './callParties.ts';
import type { HoldMusicPlayer } from './holdMusicPlayer.ts';
import type { TransferReport } from './transferReport.ts';

/** The dependencies of a transfer. */
export interface TransferDeps {
  /** The caller's leg. */
  readonly leg: CallLeg;
  readonly media: MediaSession;
  /** The caller's number. */
  readonly caller: string;
  readonly music: HoldMusicPlayer;
  readonly parties: CallParties;
  /** False when only the peer may call the targets. */
  readonly mayDial: boolean;
  readonly clock: Clock;
  readonly dispatch: (event: CallEvent) => void;
  /** A target has answered. @returns Call it when the target is gone: the time between is billed. */
  readonly startBilling: (to: string) => () => void;
  readonly report: (report: TransferReport) => void;
  readonly onError: (error: unknown, what: string) => void;
}
