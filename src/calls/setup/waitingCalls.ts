import type { Call } from '../call.ts';

/** The calls that wait to be dialed. A project with some of them has a row of work, its queue. */
export interface WaitingCalls {
  /** Reads the first calls of each from number: those of a lower `priority` first, of one the oldest. */
  first(projectId: string): Promise<readonly Call[]>;
  /** Removes a queue. @returns False while calls wait in it. */
  closeQueue(queueId: string): Promise<boolean>;
  /** Returns true when a queue has been due since then, and no node has claimed it. */
  isLeft(before: Date): Promise<boolean>;
}
