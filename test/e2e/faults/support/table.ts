import { appendFileSync } from 'node:fs';

/** A line of the table of faults. */
export interface FaultRow {
  readonly what: string;
  readonly done: string;
  readonly seen: string;
}

/** Tells what was done and seen: to the terminal, and to the file of `npm run faults` where that one runs the tests. */
export function report(row: FaultRow): void {
  const { what, done, seen } = row;
  console.log(`${what}\n  done: ${done}\n  seen: ${seen}`);
  const file = process.env.CALLWAY_FAULTS_FILE;
  if (file) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

/** Whether all faults are tried; the test suite takes a selection. */
export const isWhole = process.env.CALLWAY_FAULTS === 'all';
