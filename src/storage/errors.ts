import { CallwayError, invalid, unavailable } from '../base/errors.ts';

/** SQLSTATE of a unique constraint's refusal. @see PostgreSQL appendix A */
const UNIQUE_VIOLATION = '23505';

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
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|the database system is|cannot use a pool after|not queryable/i;

/** Text or JSON that Postgres cannot keep (a NUL character, half a surrogate pair), should it pass the border. */
const UNSTORABLE = new Set(['22021', '22P05', '22P02', '22003', '22008']);

/** Turns what a driver throws into an error of ours; what is none of the foreseen ones stays as it is. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof CallwayError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (AWAY.test(code) || AWAY_NODE_CODES.has(code) || AWAY_MESSAGES.test(error.message)) {
    return unavailable('database', error);
  }
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
  return (
    error instanceof Error &&
    codeOf(error) === UNIQUE_VIOLATION &&
    'constraint' in error &&
    error.constraint === constraint
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

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
