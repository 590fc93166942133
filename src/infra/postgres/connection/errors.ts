import { CallwayError, invalid, notFound, unavailable } from '../../../base/errors.ts';

/** SQLSTATEs of violated constraints. @see PostgreSQL appendix A */
const FOREIGN_KEY_VIOLATION = '23503';
const UNIQUE_VIOLATION = '23505';

/** Serialization failure and deadlock: the transaction may be retried. */
const CONFLICTS: readonly string[] = ['40001', '40P01'];
/** The database is reachable but too slow: conflicts, statement timeout, lock timeout. */
const LOCK_NOT_AVAILABLE = '55P03';
const BUSY: ReadonlySet<string> = new Set([...CONFLICTS, '57014', LOCK_NOT_AVAILABLE]);
/** Long enough for others to finish, short enough for a waiting user. */
const BUSY_RETRY_AFTER_SECONDS = 2;

/** Foreign keys to the project, by name, such as `tools_project_id_fkey`. */
const TO_PROJECT = /_project_id(?:_release_id)?_fkey$/;

/** Connection failures, insufficient resources and operator intervention. */
const UNAVAILABLE_STATES = /^(08|53|57P)/;
const UNAVAILABLE_NODE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'ENOENT',
]);
const UNAVAILABLE_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|Query read timeout|Client has encountered a connection error|the database system is|cannot use a pool after|not queryable/i;

/** Values that Postgres cannot store, such as NUL characters. */
const UNSTORABLE = new Set(['22021', '22P05', '22P02', '22003', '22008']);

/** Maps a driver's error to a CallwayError; unexpected errors are returned unchanged. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof CallwayError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (
    UNAVAILABLE_STATES.test(code) ||
    UNAVAILABLE_NODE_CODES.has(code) ||
    UNAVAILABLE_MESSAGES.test(error.message)
  ) {
    return unavailable('database', error);
  }
  if (BUSY.has(code)) return busy(error);
  // The project was removed while the request ran.
  if (code === FOREIGN_KEY_VIOLATION && TO_PROJECT.test(constraintOf(error))) return notFound('Project');
  if (UNSTORABLE.has(code)) {
    return new CallwayError(
      'invalid',
      'value_not_storable',
      'A value has characters or a size that cannot be stored',
      {
        cause: error,
      },
    );
  }
  return error;
}

/** Whether this unique constraint rejected a write. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof Error && codeOf(error) === UNIQUE_VIOLATION && constraintOf(error) === constraint;
}

/** Whether another transaction held a lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return (
    error instanceof CallwayError &&
    error.cause instanceof Error &&
    codeOf(error.cause) === LOCK_NOT_AVAILABLE
  );
}

/** Whether a transaction failed because of a concurrent one and may be retried. */
export function isConflict(error: unknown): boolean {
  return (
    error instanceof CallwayError && error.cause instanceof Error && CONFLICTS.includes(codeOf(error.cause))
  );
}

/** Maps the violation of a unique constraint to an error for the user. */
export async function mapUniqueViolation<Result>(
  write: Promise<Result>,
  constraint: string,
  code: string,
  message: string,
): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    throw violates(error, constraint) ? invalid(code, message) : error;
  }
}

function busy(cause: Error): CallwayError {
  const message = 'The database is too busy at the moment; try again shortly';
  const retryAfterSeconds = BUSY_RETRY_AFTER_SECONDS;
  return new CallwayError('unavailable', 'database_busy', message, { cause, retryAfterSeconds });
}

function constraintOf(error: Error): string {
  return 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : '';
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
