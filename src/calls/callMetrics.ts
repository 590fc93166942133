import type { MediaReport } from '../media/mediaSession.ts';
import type { Call } from './call.ts';
import type { CallResult } from './runner/callResult.ts';
import type { RejectionReason } from './trunks/sipRejection.ts';

/** Phases of call setup: API to INVITE, INVITE to answer, answer to the first packet with the agent's audio. */
export type SetupPhase = 'accepted_to_invite' | 'invite_to_answer' | 'answer_to_audio';

/**
 * The reason for which a call was refused: a limit of the project; no free channel of the trunk; a node that is full,
 * overloaded or stopping.
 */
export type RefusalReason =
  | 'destination'
  | 'rate'
  | 'minutes'
  | 'spending'
  | 'simultaneous'
  | 'trunk'
  | 'node';

/** Metrics of calls. Synchronous; never throws. */
export interface CallMetrics {
  callStarted(direction: Call['direction']): void;
  callRefused(reason: RefusalReason): void;
  /** Counts refused INVITEs. */
  inboundRejected(reason: RejectionReason, count: number): void;
  setupPhase(phase: SetupPhase, seconds: number): void;
  /** Counts the end of a call; called once for each `callStarted`. */
  callEnded(direction: Call['direction'], result: CallResult, media: MediaReport | undefined): void;
}
