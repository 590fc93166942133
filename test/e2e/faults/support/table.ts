import { appendFileSync } from 'node:fs';

import { requires, requiresSipPeers } from '../../../support/skips.ts';

/** A row of the table of faults. */
export interface FaultRow {
  readonly what: string;
  readonly done: string;
  readonly seen: string;
}

/** Reports a row: to the terminal, and to the file of `npm run faults`. */
export function report(row: FaultRow): void {
  const { what, done, seen } = row;
  console.log(`${what}\n  done: ${done}\n  seen: ${seen}`);
  const file = process.env.CALLWAY_FAULTS_FILE;
  if (file) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

/** Whether all faults are run; the test suite runs a selection. */
export const runsAllFaults = process.env.CALLWAY_FAULTS === 'all';

/** For the faults beyond the selection; they need SIPp as well. */
export const requiresAllFaults = runsAllFaults
  ? requiresSipPeers
  : requires(false, 'run by "npm run faults"');
