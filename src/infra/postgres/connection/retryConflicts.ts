import { setTimeout as pause } from 'node:timers/promises';

import { isConflict } from './errors.ts';

/** Including the first one. More retries would not help against sustained load. */
const ATTEMPTS = 3;
/** Long enough for the concurrent transaction to get its locks. */
const PAUSE_MS = 20;

/**
 * Retries a transaction after a conflict. A random pause lets the concurrent transaction proceed first.
 *
 * @throws {CallwayError} 503 `database_busy` when the last attempt fails too.
 */
export async function retryConflicts<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt === ATTEMPTS || !isConflict(error)) throw error;
      await pause(PAUSE_MS * attempt * (0.5 + Math.random()));
    }
  }
}
