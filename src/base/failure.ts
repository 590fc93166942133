import { CallwayError, type ErrorCategory, type ErrorDetail } from './errors.ts';

/** An error as it crosses threads, processes and nodes, where a copy would lose its class and its code. */
export interface Failure {
  readonly message: string;
  /** The code of a `CallwayError`, or of the system, such as `EADDRINUSE`. */
  readonly code: string | undefined;
  /** Undefined when the error is no `CallwayError`. */
  readonly category: ErrorCategory | undefined;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
}

export function toFailure(error: unknown): Failure {
  const { message } = error instanceof Error ? error : { message: String(error) };
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const { category, details, retryAfterSeconds } = error instanceof CallwayError ? error : {};
  return { message, code, category, details, retryAfterSeconds };
}

export function fromFailure({ message, code, category, details, retryAfterSeconds }: Failure): Error {
  if (category) return new CallwayError(category, String(code), message, { details, retryAfterSeconds });
  return Object.assign(new Error(message), code === undefined ? undefined : { code });
}
