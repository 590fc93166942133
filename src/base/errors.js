/**
 * A failure that Callway foresaw. Its message is written for the user: what was wrong, with which value, and
 * what would be right. It never carries a secret, a stack or an SQL text.
 */
export class CallwayError extends Error {
  category;
  /** Stable, snake_case; part of the API. */
  code;
  details;
  retryAfterSeconds;
  extra;
  constructor(category, code, message, options = {}) {
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
export function notFound(what) {
  return new CallwayError(
    'not_found',
    `${what.toLowerCase().replaceAll(' ', '_')}_not_found`,
    `${what} not found`,
  );
}
/** The caller sent something that cannot be taken; the first detail also stands in the message. */
export function invalid(code, message, details) {
  return new CallwayError('invalid', code, message, details ? { details } : {});
}
/** A part that Callway stands on is away for a moment. */
export function unavailable(what, cause) {
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
/** Long enough for a restart of Postgres or Redis, short enough for a person who waits. */
const DEFAULT_RETRY_AFTER_SECONDS = 5;
