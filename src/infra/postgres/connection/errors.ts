import { CallwayError, invalid, notFound, unavailable } from '../../../base/errors.ts';

/** SQLSTATEs of refusals by a foreign key and by a unique constraint. @see PostgreSQL appendix A */
const FOREIGN_KEY_VIOLATION = '23503';
const UNIQUE_VIOLATION = '23505';

/** The transaction was given up so that another could go on: a failed serialisation, a deadlock. */
const CONFLICTS: readonly string[] = ['40001', '40P01'];
/** The database is there and does not get to it: besides conflicts, a statement's time is over, or that for a lock. */
const BUSY: ReadonlySet<string> = new Set([...CONFLICTS, '57014', '55P03']);
/** Long enough for others to finish, short enough for a person who waits. */
const BUSY_RETRY_AFTER_SECONDS = 2;

/** By their names, the constraints that hold a row to its project: `tools_project_id_fkey`. */
const TO_PROJECT = /_project_id(?:_release_id)?_fkey$/;

/** Classes and codes that say that the server is away or going: connection, resources, operator intervention. */
const AWAY = /^(08|53|57P)/;
const AWAY_NODE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'ENOENT',
]);
const AWAY_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|^timeout expired$|Query read timeout|Client has encountered a connection error|the database system is|cannot use a pool after|not queryable/i;

/** Text or JSON that Postgres cannot keep (a NUL character, half a surrogate pair), should it pass the border. */
const UNSTORABLE = new Set(['22021', '22P05', '22P02', '22003', '22008']);

/** Turns what a driver throws into an error of ours; what is none of the foreseen ones stays as it is. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof CallwayError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (AWAY.test(code) || AWAY_NODE_CODES.has(code) || AWAY_MESSAGES.test(error.message)) {
    return unavailable('database', error);
  }
  if (BUSY.has(code)) return busy(error);
  // A row that was begun while its project was there, and written when it had gone.
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

/** Whether a write was refused because of this unique constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof Error && codeOf(error) === UNIQUE_VIOLATION && constraintOf(error) === constraint;
}

/** Whether a transaction failed for no fault of its own, and may do what it does again from its beginning. */
export function isConflict(error: unknown): boolean {
  return (
    error instanceof CallwayError && error.cause instanceof Error && CONFLICTS.includes(codeOf(error.cause))
  );
}

/** Runs a write, and answers a unique constraint's refusal with an error for the user. */
export async function orTaken<Result>(
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
