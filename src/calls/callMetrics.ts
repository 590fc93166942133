import type { MediaReport } from '../media/mediaSession.ts';
import type { Call } from './call.ts';
import type { CallResult } from './runner/callResult.ts';

/**
 * The stretches between which a caller waits: from the API's acceptance to the INVITE, from the INVITE to the answer,
 * and from the answer to the first packet with the engine's audio.
 */
export type SetupPhase = 'accepted_to_invite' | 'invite_to_answer' | 'answer_to_audio';

/**
 * Why a call was not taken: what the operator lets its project do, or, of a call that came in, no channel of the trunk or
 * no place on the node.
 */
export type RefusalReason =
  | 'destination'
  | 'rate'
  | 'minutes'
  | 'spending'
  | 'simultaneous'
  | 'trunk'
  | 'node';

/** What the operator is to know of calls in numbers. Nothing here fails or waits. */
export interface CallMetrics {
  /** This node carries another call. */
  callStarted(direction: Call['direction']): void;
  callRefused(reason: RefusalReason): void;
  setupPhase(phase: SetupPhase, seconds: number): void;
  /** A call that began is over. */
  callEnded(direction: Call['direction'], result: CallResult, media: MediaReport | undefined): void;
}
