import { setTimeout as pause } from 'node:timers/promises';

import { isConflict } from './errors.ts';

/** The first one counts. Who loses twice against others that went on meanwhile loses to a load, not to an accident. */
const ATTEMPTS = 3;
/** Long enough for the other one to be given the locks that it waited for; nobody notices it. */
const PAUSE_MS = 20;

/**
 * Runs a transaction, and runs the whole of it again when the database gave it up in favour of another. A short pause
 * between, of no fixed length, keeps the repetition from taking the locks away again from whoever it made room for.
 *
 * @throws {CallwayError} 503 `database_busy` when the last attempt was given up too.
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
