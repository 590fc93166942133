import { z } from 'zod';
import type { Refusal } from '../../models/chat/refusals.ts';
import { ModelError } from '../../models/ports/modelError.ts';

const MAX_QUOTE_CHARACTERS = 300;
/** The status codes of requests that may succeed on a retry, besides 5xx; 529 means overload. */
const MAY_PASS = new Set([408, 409, 425, 429]);
const MAY_PASS_TYPES = new Set(['rate_limit_error', 'overloaded_error', 'api_error', 'timeout_error']);

const reported = z.object({
  error: z.object({ type: z.string().default(''), message: z.string().default('') }),
});

type Redact = (text: string) => string;

/** @see https://docs.claude.com/en/api/errors */
export async function statusError(response: Response, redact: Redact): Promise<ModelError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  const quote = quoted(messageIn(text), redact);
  if (status === 401 || status === 403)
    return new ModelError('model_rejected', `Anthropic does not accept the key${quote}`);
  if (status === 404) return new ModelError('model_rejected', `Anthropic does not know the model${quote}`);
  if (status >= 500 || MAY_PASS.has(status)) {
    const seconds = Number.parseFloat(headers.get('retry-after') ?? '');
    const retryAfterSeconds = seconds >= 0 ? seconds : undefined;
    return new ModelError('model_unavailable', `Anthropic answered with status ${status}`, {
      retryAfterSeconds,
    });
  }
  const message = `Anthropic refuses the request with status ${status}${quote}`;
  const isInvalid = status === 400 || status === 422;
  const cause = isInvalid ? new RefusedError(messageIn(text)) : undefined;
  return new ModelError('model_rejected', message, { cause });
}

/** The message may hold the key, so that no log shows it. */
class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly #refusal: Refusal;

  constructor(message: string) {
    super('the request is invalid');
    this.#refusal = { message };
  }

  get refusal(): Refusal {
    return this.#refusal;
  }
}

/** @returns The API's reason for an invalid request; undefined for any other failure. */
export function refusalOf(error: unknown): Refusal | undefined {
  const cause: unknown = error instanceof ModelError ? error.cause : undefined;
  return cause instanceof RefusedError ? cause.refusal : undefined;
}

/** Turns an `error` event of a stream into a failure. */
export function streamedError(read: unknown, redact: Redact): ModelError {
  const { error } = reported.catch({ error: { type: '', message: '' } }).parse(read);
  const quote = quoted(error.message, redact);
  return MAY_PASS_TYPES.has(error.type) || error.type === ''
    ? new ModelError('model_unavailable', `Anthropic failed while it answered${quote}`)
    : new ModelError('model_rejected', `Anthropic refuses the request${quote}`);
}

export function toModelError(error: unknown, beforeFirstToken: boolean): ModelError {
  if (error instanceof ModelError) return error;
  const message = beforeFirstToken
    ? 'Anthropic cannot be reached'
    : 'The connection to Anthropic broke in the middle of an answer';
  return new ModelError('model_unavailable', message, { beforeFirstToken, cause: error });
}

function messageIn(text: string): string {
  try {
    return reported.parse(JSON.parse(text)).error.message;
  } catch {
    return '';
  }
}

function quoted(text: string, redact: Redact): string {
  const line = redact(text).replace(/\s+/g, ' ').trim();
  return line === '' ? '' : `: ${line.slice(0, MAX_QUOTE_CHARACTERS)}`;
}
