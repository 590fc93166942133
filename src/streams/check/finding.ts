import { CLOSE_GOING_AWAY, CLOSE_NORMAL, CLOSE_WITHOUT_CODE } from '../transport/streamSocket.ts';

const CHECKS = [
  'connect',
  'start',
  'messages',
  'audio',
  'prompts',
  'tokens',
  'answers',
  'partials',
  'interrupt',
  'play',
  'sendDigits',
  'language',
  'formats',
  'pacing',
  'marks',
  'clear',
  'keys',
  'error',
  'hang-up',
  'closing',
] as const;
export type CheckName = (typeof CHECKS)[number];

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

/** What was wrong during a call, by the check that it fails: the first problem, and how many followed. */
export class Problems {
  readonly #found = new Map<CheckName, { readonly first: string; more: number }>();

  add(check: CheckName, detail: string): void {
    const found = this.#found.get(check);
    if (found) found.more++;
    else this.#found.set(check, { first: detail, more: 0 });
  }

  /** @returns The failure of the finding's check where there was a problem, else the finding. */
  or(finding: Finding): Finding {
    const found = this.#found.get(finding.check);
    if (!found) return finding;
    return fail(finding.check, found.more === 0 ? found.first : `${found.first} (and ${found.more} more)`);
  }
}

const ORDERLY: ReadonlySet<number> = new Set([CLOSE_NORMAL, CLOSE_GOING_AWAY, CLOSE_WITHOUT_CODE]);

export function isOrderly(closeCode: number): boolean {
  return ORDERLY.has(closeCode);
}

/** How the other side has closed the connection. */
export function closed(closeCode: number): Finding {
  const detail = `closed with ${closeCode} after the end of the call`;
  return isOrderly(closeCode) ? pass('closing', detail) : fail('closing', detail);
}
