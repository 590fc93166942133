import { isConflict } from './errors.js';

/** The first one counts. Who loses twice against others that went on meanwhile loses to a load, not to an accident. */
const ATTEMPTS = 3;
/**
 * Runs a transaction, and runs the whole of it again when the database gave it up in favour of another. There is no
 * pause between: the other one has its locks by then, and the repetition waits for them.
 *
 * @throws {CallwayError} 503 `database_busy` when the last attempt was given up too.
 */
export async function repeatConflicts(transaction) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt === ATTEMPTS || !isConflict(error)) throw error;
    }
  }
}
