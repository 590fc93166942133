import { APIConnectionError, APIError } from 'openai';
import { ModelError } from '../ports/modelError.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { isRecord, textOf } from './wire.ts';

const LONGEST_QUOTE_CHARACTERS = 300;
/** Timeouts and conflicts pass; these and all of 5xx are the endpoint's own trouble. */
const PASSING_STATUSES: readonly number[] = [408, 409, 425, 429];
const TOO_MANY_REQUESTS = 429;

/**
 * Says in Callway's words why a request failed. The endpoint's own words are quoted, shortened and without keys, only
 * where they tell the user what to change.
 *
 * @param error - What the SDK, or a read of the response's body, threw.
 */
export function toModelError(
  error: unknown,
  endpoint: OpenAiEndpoint,
  beforeFirstToken: boolean,
): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof APIError && !(error instanceof APIConnectionError)) {
    return statusError(error, endpoint, beforeFirstToken);
  }
  const code = systemCodeOf(error);
  const reason = code === undefined ? '' : ` (${code})`;
  const message = beforeFirstToken
    ? `The model's endpoint cannot be reached${reason}`
    : `The connection to the model's endpoint broke in the middle of an answer${reason}`;
  return new ModelError('model_unavailable', message, { beforeFirstToken });
}

/**
 * Says why an answer that had begun well holds an error: endpoints that fail after the response's status was sent put
 * an `error` into the stream.
 *
 * @param wireError - What stands there: an object, or only a text.
 */
export function streamedError(
  wireError: unknown,
  endpoint: OpenAiEndpoint,
  beforeFirstToken: boolean,
): ModelError {
  const { message, code } = isRecord(wireError) ? wireError : { message: wireError, code: undefined };
  const status = Number(code);
  const quote = quoted(textOf(message), endpoint);
  if (status >= 400 && status < 500 && !PASSING_STATUSES.includes(status)) {
    return new ModelError('model_rejected', `The model's endpoint refuses the request${quote}`, {
      beforeFirstToken,
    });
  }
  return new ModelError('model_unavailable', `The model failed while it answered${quote}`, {
    beforeFirstToken,
  });
}

/** The endpoint's own words about a request that it refused; empty when the failure is of another kind. */
export function refusalMessage(error: unknown): string | undefined {
  const isRefusal = error instanceof APIError && (error.status === 400 || error.status === 422);
  return isRefusal ? error.message : undefined;
}

function statusError(error: APIError, endpoint: OpenAiEndpoint, beforeFirstToken: boolean): ModelError {
  const { status } = error;
  if (status === TOO_MANY_REQUESTS) return overloaded(error, beforeFirstToken);
  if (status === undefined || status >= 500 || PASSING_STATUSES.includes(status)) {
    const message = `The model's endpoint answered with status ${status ?? 'unknown'}`;
    const retryAfterSeconds = retryAfterOf(error);
    return new ModelError('model_unavailable', message, { beforeFirstToken, retryAfterSeconds });
  }
  const quote = quoted(error.message.replace(/^\d{3} /, ''), endpoint);
  return new ModelError('model_rejected', refusal(status, quote), { beforeFirstToken });
}

function overloaded(error: APIError, beforeFirstToken: boolean): ModelError {
  if (error.code === 'insufficient_quota') {
    const message = "The account at the model's endpoint has no quota left";
    return new ModelError('model_unavailable', message, { beforeFirstToken, retryable: false });
  }
  return new ModelError('model_unavailable', "The model's endpoint takes no more requests at the moment", {
    beforeFirstToken,
    retryAfterSeconds: retryAfterOf(error),
  });
}

function refusal(status: number, quote: string): string {
  if (status === 401) return "The model's endpoint does not accept the key; check OPENAI_API_KEY";
  if (status === 403) return `The key may not use this model${quote}`;
  if (status === 404)
    return `The model's endpoint does not know the model, or OPENAI_BASE_URL is wrong${quote}`;
  return `The model's endpoint refuses the request with status ${status}${quote}`;
}

function quoted(text: string, endpoint: OpenAiEndpoint): string {
  const oneLine = endpoint.redact(text).replace(/\s+/g, ' ').trim();
  return oneLine === '' ? '' : `: ${oneLine.slice(0, LONGEST_QUOTE_CHARACTERS)}`;
}

/** @see RFC 9110 section 10.2.3; `retry-after-ms` is OpenAI's own, and finer. */
function retryAfterOf({ headers }: APIError): number | undefined {
  const milliseconds = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds / 1000;
  const value = headers?.get('retry-after') ?? '';
  const seconds = Number.parseFloat(value);
  if (seconds >= 0) return seconds;
  const untilMs = Date.parse(value) - Date.now();
  return Number.isNaN(untilMs) ? undefined : Math.max(0, Math.ceil(untilMs / 1000));
}

/** The operating system's, or the HTTP client's, code at the end of the chain of causes. */
function systemCodeOf(error: unknown): string | undefined {
  let code: string | undefined;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') code = cause.code;
  }
  return code;
}
