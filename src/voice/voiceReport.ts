import type { LatencyParts } from '../engine/session/session.ts';
import type { AnsweredBy } from './answeringMachine/answeringMachine.ts';

/** What came of one call's talk. */
export interface VoiceReport {
  /**
   * Why the agent stopped: it hung up, it handed the call over, the other side is gone, or it could not go on (and
   * hung up after an apology).
   */
  readonly outcome: 'hung_up' | 'transferred' | 'closed' | 'failed';
  readonly answeredBy: AnsweredBy;
  /** The turns in which the agent sounded, in order. */
  readonly turns: readonly SpokenTurn[];
  /** Answers that the caller cut short. */
  readonly interruptions: number;
  /** Stops that turned out to be for nothing, and were resumed. */
  readonly falseInterruptions: number;
}

export interface SpokenTurn {
  /** What it answered: `words`, `dtmf`, `silence` and so on. */
  readonly kind: string;
  readonly interrupted: boolean;
  /** Only for answers to something that the caller said. */
  readonly latencyMs?: number;
  readonly latencyParts?: LatencyParts;
}
