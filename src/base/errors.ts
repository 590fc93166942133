/** What kind of failure it is, free of any transport; each transport maps it in one table of its own. */
export type ErrorCategory =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'precondition_failed'
  | 'gone'
  | 'too_large'
  | 'unsupported'
  | 'rate_limited'
  | 'timeout'
  | 'unavailable'
  | 'internal';

/** One thing that was wrong; `path` is a JSON pointer into what the caller sent (RFC 6901). */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

export interface ErrorOptions {
  readonly cause?: unknown;
  readonly details?: readonly ErrorDetail[];
  /** After how many seconds it is worth trying again. */
  readonly retryAfterSeconds?: number;
  /** Facts that only add to the answer, such as the successor of a removed route. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * A failure that Callway foresaw. Its message is written for the user: what was wrong, with which value, and
 * what would be right. It never carries a secret, a stack or an SQL text.
 */
export class CallwayError extends Error {
  readonly category: ErrorCategory;
  /** Stable, snake_case; part of the API. */
  readonly code: string;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly extra: Readonly<Record<string, unknown>> | undefined;

  constructor(category: ErrorCategory, code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CallwayError';
    this.category = category;
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.extra = options.extra;
  }
}

/** The caller named something that does not exist, or that is not theirs to see. */
export function notFound(what: string): CallwayError {
  return new CallwayError(
    'not_found',
    `${what.toLowerCase().replaceAll(' ', '_')}_not_found`,
    `${what} not found`,
  );
}

/** The caller sent something that cannot be taken; the first detail also stands in the message. */
export function invalid(code: string, message: string, details?: readonly ErrorDetail[]): CallwayError {
  return new CallwayError('invalid', code, message, details ? { details } : {});
}

/** A part that Callway stands on is away for a moment. */
export function unavailable(what: string, cause?: unknown): CallwayError {
  return new CallwayError(
    'unavailable',
    `${what}_unavailable`,
    `${what} is away at the moment; try again shortly`,
    {
      cause,
      retryAfterSeconds: DEFAULT_RETRY_AFTER_SECONDS,
    },
  );
}

/** Whether it failed because something that Callway stands on is away, and may be tried again as it is. */
export function isUnavailable(error: unknown): error is CallwayError {
  return error instanceof CallwayError && error.category === 'unavailable';
}

/** Long enough for a restart of Postgres or Redis, short enough for a person who waits. */
const DEFAULT_RETRY_AFTER_SECONDS = 5;
