/** What the service does for a call beside its conversation. */
export interface CallPolicy {
  readonly publishesEvents: boolean;
  /** Counts in the project's usage, and holds one of its slots. */
  readonly countsUsage: boolean;
  /** Dials the targets of its transfers; otherwise they are only reported. */
  readonly dialsTransfers: boolean;
  /** Its leg runs over a stored trunk, over which another node can end it. */
  readonly hasTrunk: boolean;
}

const REAL: CallPolicy = {
  publishesEvents: true,
  countsUsage: true,
  dialsTransfers: true,
  hasTrunk: true,
};

/** The policy of a simulated caller's call. */
const TEST: CallPolicy = {
  publishesEvents: false,
  countsUsage: false,
  dialsTransfers: false,
  hasTrunk: false,
};

export function callPolicy({ isTest }: { readonly isTest: boolean }): CallPolicy {
  return isTest ? TEST : REAL;
}
