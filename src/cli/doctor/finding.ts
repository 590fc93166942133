import { table } from '../table.ts';

const MARKS: Record<Status, string> = { ok: 'ok', warn: 'WARN', fail: 'FAIL' };

type Status = 'ok' | 'warn' | 'fail';

export interface Finding {
  readonly name: string;
  readonly status: Status;
  readonly message: string;
  /** The way to fix it. */
  readonly remedy?: string;
  /** Measured, in milliseconds. */
  readonly latency?: Readonly<Record<string, number>>;
}

export function ok(name: string, message: string): Finding {
  return { name, status: 'ok', message };
}

/** The service starts, but something needs attention. */
export function warn(name: string, message: string, remedy: string): Finding {
  return { name, status: 'warn', message, remedy };
}

/** The service does not start, or is not safe. */
export function fail(name: string, message: string, remedy: string): Finding {
  return { name, status: 'fail', message, remedy };
}

/** A URL without user, password and query, which may contain secrets. */
export function shownAddress(url: string): string {
  return url.replace(/\/\/.*@/, '//').replace(/[?#].*$/, '');
}

/** Formats findings as a table, each remedy below its finding, and a summary line. */
export function report(findings: readonly Finding[]): string {
  const rows = findings.flatMap(({ name, status, message, remedy }) => [
    [MARKS[status], name, message],
    ...(remedy === undefined ? [] : [['', '', `-> ${remedy}`]]),
  ]);
  const count = (status: Status) => findings.filter((finding) => finding.status === status).length;
  return `${table(rows)}\n${count('ok')} ok, ${count('warn')} warnings, ${count('fail')} failed\n`;
}
