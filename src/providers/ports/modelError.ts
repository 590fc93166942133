import { CallwayError } from '../../base/errors.ts';

/**
 * - `model_unavailable`: the endpoint is away, overloaded or silent.
 * - `model_rejected`: the endpoint will not take the request, however often it is sent.
 * - `model_malformed`: the endpoint answered with something that cannot be read, or broke off.
 */
export type ModelErrorCode = 'model_unavailable' | 'model_rejected' | 'model_malformed';

export interface ModelErrorOptions {
  /** Whether the answer had not begun: nobody has heard or read a word of it. */
  readonly beforeFirstToken: boolean;
  /** Whether the same request may well succeed when it is sent again. Default: all but `model_rejected`. */
  readonly retryable?: boolean;
  /** What the endpoint asked for. */
  readonly retryAfterSeconds?: number | undefined;
  /** Must not hold the key, or headers. */
  readonly cause?: unknown;
}

/**
 * A model that did not answer, or not to the end. The message is safe for the user and never holds a key.
 * Its category is `internal`, since to the caller of an API it is the service that failed.
 */
export class ModelError extends CallwayError {
  declare readonly code: ModelErrorCode;
  readonly beforeFirstToken: boolean;
  readonly retryable: boolean;

  constructor(code: ModelErrorCode, message: string, options: ModelErrorOptions) {
    const { cause, retryAfterSeconds } = options;
    super('internal', code, message, {
      cause,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
    this.name = 'ModelError';
    this.beforeFirstToken = options.beforeFirstToken;
    this.retryable = options.retryable ?? code !== 'model_rejected';
  }
}
