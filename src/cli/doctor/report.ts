import { table } from '../table.ts';
import type { Finding, Status } from './finding.ts';

const MARKS: Record<Status, string> = { ok: 'ok', warn: 'WARN', fail: 'FAIL' };

/** Lays the findings out one a line, each remedy below its own, and sums them up. */
export function report(findings: readonly Finding[]): string {
  const rows = findings.flatMap(({ name, status, message, remedy }) => [
    [MARKS[status], name, message],
    ...(remedy === undefined ? [] : [['', '', `-> ${remedy}`]]),
  ]);
  const count = (status: Status) => findings.filter((finding) => finding.status === status).length;
  return `${table(rows)}\n${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failed\n`;
}
