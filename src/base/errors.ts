/** Kind of failure, independent of any transport. Each transport maps it in one table. */
export type ErrorCategory =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'unprocessable'
  | 'precondition_failed'
  | 'gone'
  | 'too_large'
  | 'unsupported'
  | 'rate_limited'
  | 'timeout'
  | 'unavailable'
  | 'internal';

/** One problem of a request; `path` is a JSON pointer into its body (RFC 6901). */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
}

export interface ErrorOptions {
  readonly cause?: unknown;
  readonly details?: readonly ErrorDetail[];
  /** Seconds after which a retry makes sense. */
  readonly retryAfterSeconds?: number | undefined;
  /** Additional fields of the response, such as the successor of a removed route. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * An expected failure. The message is written for the user: what was wrong, with which value, and what would be
 * right. It never contains a secret, a stack or SQL.
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

/** The resource does not exist, or the caller may not see it. */
export function notFound(what: string, details?: readonly ErrorDetail[]): CallwayError {
  return new CallwayError(
    'not_found',
    `${what.toLowerCase().replace(/[ -]/g, '_')}_not_found`,
    `${what} not found`,
    details ? { details } : {},
  );
}

/** The request was invalid. The message repeats the first detail. */
export function invalid(code: string, message: string, details?: readonly ErrorDetail[]): CallwayError {
  return new CallwayError('invalid', code, message, details ? { details } : {});
}

/** A dependency such as the database is unavailable; a retry may succeed. */
export function unavailable(what: string, cause?: unknown): CallwayError {
  return new CallwayError(
    'unavailable',
    `${what}_unavailable`,
    `${what} is unavailable at the moment; try again shortly`,
    {
      cause,
      retryAfterSeconds: DEFAULT_RETRY_AFTER_SECONDS,
    },
  );
}

/** This node shuts down; the same request succeeds on another node, or after the restart. */
export function nodeDraining(): CallwayError {
  const message = 'This node is shutting down and accepts nothing new; try again shortly';
  return new CallwayError('unavailable', 'node_draining', message, {
    retryAfterSeconds: DEFAULT_RETRY_AFTER_SECONDS,
  });
}

/** This node does not keep up with its calls; the same request succeeds on another node, or later. */
export function nodeOverloaded(): CallwayError {
  const message = 'This node is overloaded and accepts no new calls; try again shortly';
  return new CallwayError('unavailable', 'node_overloaded', message, {
    retryAfterSeconds: DEFAULT_RETRY_AFTER_SECONDS,
  });
}

/** Whether a dependency was unavailable, so that the same operation may succeed later. */
export function isUnavailable(error: unknown): error is CallwayError {
  return error instanceof CallwayError && error.category === 'unavailable';
}

/** Long enough for a restart of Postgres or Redis, short enough for a waiting user. */
const DEFAULT_RETRY_AFTER_SECONDS = 5;
