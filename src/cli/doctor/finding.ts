export type Status = 'ok' | 'warn' | 'fail';

/** What one check found; `remedy` says what to do about it. */
export interface Finding {
  readonly name: string;
  readonly status: Status;
  readonly message: string;
  readonly remedy?: string;
}

export function ok(name: string, message: string): Finding {
  return { name, status: 'ok', message };
}

/** It runs, but not as well as it could, or not for long. */
export function warn(name: string, message: string, remedy: string): Finding {
  return { name, status: 'warn', message, remedy };
}

/** It does not run, or not safely. */
export function fail(name: string, message: string, remedy: string): Finding {
  return { name, status: 'fail', message, remedy };
}

/** An address as it may be shown: without user, password and query, which is where secrets stand. */
export function shownAddress(url: string): string {
  return url.replace(/\/\/.*@/, '//').replace(/[?#].*$/, '');
}
