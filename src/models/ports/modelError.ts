import { CallwayError } from '../../base/errors.ts';

/**
 * - `model_unavailable`: the endpoint is unreachable, overloaded or silent.
 * - `model_rejected`: the endpoint refuses the request, and would refuse it again.
 * - `model_malformed`: the response is unreadable or incomplete.
 */
export type ModelErrorCode = 'model_unavailable' | 'model_rejected' | 'model_malformed';

export interface ModelErrorOptions {
  /** True when no part of the answer was passed on. Default: true. */
  readonly beforeFirstToken?: boolean;
  /** True when a retry of the same request may succeed. Default: true for all codes except `model_rejected`. */
  readonly retryable?: boolean;
  /** The wait before a retry that the endpoint requests, in seconds. */
  readonly retryAfterSeconds?: number | undefined;
  /** Must not hold the key, or headers. */
  readonly cause?: unknown;
}

/**
 * A request to a provider that failed. The message may be shown to users and never holds a key. The category is
 * `internal`: to a client of the API, the service failed.
 */
export class ModelError extends CallwayError {
  declare readonly code: ModelErrorCode;
  readonly beforeFirstToken: boolean;
  readonly retryable: boolean;

  constructor(code: ModelErrorCode, message: string, options: ModelErrorOptions = {}) {
    const { cause, retryAfterSeconds } = options;
    super('internal', code, message, {
      cause,
      retryAfterSeconds,
    });
    this.name = 'ModelError';
    this.beforeFirstToken = options.beforeFirstToken ?? true;
    this.retryable = options.retryable ?? code !== 'model_rejected';
  }

  /** @returns The same error, of an answer that had started. */
  afterFirstToken(): ModelError {
    const { code, message, retryable, retryAfterSeconds, cause } = this;
    return new ModelError(code, message, { beforeFirstToken: false, retryable, retryAfterSeconds, cause });
  }
}

/** Wraps what a model threw that is no ModelError. */
export function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  const message = error instanceof Error ? error.message : 'unknown';
  return new ModelError('model_unavailable', message, { cause: error });
}

/** Creates the error for a vendor that is not tried because it has failed for another call. */
export function skippedError(): ModelError {
  return new ModelError('model_unavailable', 'It failed moments ago, and is not tried again yet');
}

/** @throws {ModelError} When the vendor needs a key or an address and has none. */
export function requireCredentials(vendor: string, credential: string | undefined): void {
  if (credential === undefined) throw new ModelError('model_rejected', `${vendor} has no credentials`);
}
