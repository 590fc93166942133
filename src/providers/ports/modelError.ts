import { CallwayError } from '../../base/errors.ts';

/**
 * - `model_unavailable`: the endpoint is unreachable, overloaded or silent.
 * - `model_rejected`: the endpoint refuses the request, and would refuse it again.
 * - `model_malformed`: the response is unreadable or incomplete.
 */
export type ModelErrorCode = 'model_unavailable' | 'model_rejected' | 'model_malformed';

export interface ModelErrorOptions {
  /** Whether no part of the answer was passed on. Default: true. */
  readonly beforeFirstToken?: boolean;
  /** Whether the same request may succeed when it is sent again. Default: all but `model_rejected`. */
  readonly retryable?: boolean;
  /** As the endpoint asked for. */
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
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
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

/** Why a vendor is not tried that has failed for another call. */
export function skippedError(): ModelError {
  return new ModelError('model_unavailable', 'It failed moments ago, and is not tried again yet');
}

/** @throws {ModelError} Where a vendor that needs one has no key or address. */
export function requireCredentials(vendor: string, credential: string | undefined): void {
  if (credential === undefined) throw new ModelError('model_rejected', `${vendor} has no credentials`);
}
