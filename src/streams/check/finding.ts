export type CheckName =
  | 'connect'
  | 'start'
  | 'messages'
  | 'audio'
  | 'prompts'
  | 'tokens'
  | 'answers'
  | 'partials'
  | 'interrupt'
  | 'play'
  | 'sendDigits'
  | 'language'
  | 'formats'
  | 'pacing'
  | 'marks'
  | 'clear'
  | 'keys'
  | 'error'
  | 'hang-up'
  | 'closing';

/** What is wrong with a message, and the check that it fails. */
export interface Problem {
  readonly check: CheckName;
  readonly detail: string;
}

/** What one check found. */
export interface Finding {
  readonly check: CheckName;
  /** Skipped is what did not happen on this call, or what the dialect lacks. */
  readonly status: 'pass' | 'fail' | 'skipped';
  readonly detail: string;
}

export const pass = (check: CheckName, detail: string): Finding => ({ check, status: 'pass', detail });
export const fail = (check: CheckName, detail: string): Finding => ({ check, status: 'fail', detail });
export const skipped = (check: CheckName, detail: string): Finding => ({ check, status: 'skipped', detail });
