import { APIConnectionError, APIError } from 'openai';
import type { Refusal } from '../../models/chat/refusals.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { OpenAiEndpoint } from './endpoint.ts';
import { asText, isRecord } from './looseJson.ts';

const MAX_QUOTE_CHARACTERS = 300;
/** Client errors that a retry may overcome. */
const RETRYABLE_STATUSES: readonly number[] = [408, 409, 425, 429];
const TOO_MANY_REQUESTS = 429;
/**
 * Matches refusals that some servers report as their own failure, such as a chat template's error about the order of
 * messages.
 */
const LATE_REFUSAL =
  /jinja|chat template|system (?:message|role)|roles must alternate|not supported|unsupported|not support/i;

type Redactor = Pick<OpenAiEndpoint, 'redact'>;

/**
 * Maps what the SDK, or reading a response, threw. The endpoint's message is quoted, shortened and without keys, only
 * where it tells the user what to change.
 */
export function toModelError(error: unknown, endpoint: Redactor, beforeFirstToken: boolean): ModelError {
  if (error instanceof ModelError) return error;
  // The SDK wraps what its fetch throws.
  if (error instanceof APIConnectionError && error.cause instanceof ModelError) return error.cause;
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
 * Maps the `error` in a response whose status was good: endpoints that fail later send it in the stream.
 *
 * @param wireError - An object, or only a text.
 */
export function streamedError(wireError: unknown, endpoint: Redactor): ModelError {
  const { message, code } = isRecord(wireError) ? wireError : { message: wireError, code: undefined };
  const status = Number(code);
  const quote = quoted(asText(message), endpoint);
  return status >= 400 && status < 500 && !RETRYABLE_STATUSES.includes(status)
    ? new ModelError('model_rejected', `The model's endpoint refuses the request${quote}`)
    : new ModelError('model_unavailable', `The model failed while it answered${quote}`);
}

/** @returns The endpoint's reason for an invalid request; undefined for any other failure. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof APIError)) return undefined;
  const { status = 0, param } = error;
  const message = `${error.message.replace(/^\d{3} /, '')} ${rawMessage(error.error)}`.trim();
  const isRefusal = status === 400 || status === 422 || (status >= 500 && LATE_REFUSAL.test(message));
  return isRefusal ? { message, parameter: param ?? undefined } : undefined;
}

/** OpenRouter has what the vendor behind it says beside its own message. */
function rawMessage(body: unknown): string {
  const metadata = isRecord(body) ? body.metadata : undefined;
  return isRecord(metadata) ? asText(metadata.raw) : '';
}

function statusError(error: APIError, endpoint: Redactor, beforeFirstToken: boolean): ModelError {
  const { status } = error;
  if (status === TOO_MANY_REQUESTS) return rateLimitError(error, beforeFirstToken);
  if (status === undefined || status >= 500 || RETRYABLE_STATUSES.includes(status)) {
    const message = `The model's endpoint answered with status ${status ?? 'unknown'}`;
    const retryAfterSeconds = readRetryAfter(error);
    return new ModelError('model_unavailable', message, { beforeFirstToken, retryAfterSeconds });
  }
  const quote = quoted(error.message.replace(/^\d{3} /, ''), endpoint);
  return new ModelError('model_rejected', rejectionMessage(status, quote), { beforeFirstToken });
}

function rateLimitError(error: APIError, beforeFirstToken: boolean): ModelError {
  if (error.code === 'insufficient_quota') {
    const message = "The account at the model's endpoint has no quota left";
    return new ModelError('model_unavailable', message, { beforeFirstToken, retryable: false });
  }
  const message = "The model's endpoint takes no more requests at the moment";
  const retryAfterSeconds = readRetryAfter(error);
  return new ModelError('model_unavailable', message, { beforeFirstToken, retryAfterSeconds });
}

function rejectionMessage(status: number, quote: string): string {
  if (status === 401) return "The model's endpoint does not accept the API key";
  if (status === 403) return `The key may not use this model${quote}`;
  if (status === 404) return `The model's endpoint does not know the model, or its base URL is wrong${quote}`;
  return `The model's endpoint refuses the request with status ${status}${quote}`;
}

function quoted(text: string, endpoint: Redactor): string {
  const line = endpoint.redact(text).replace(/\s+/g, ' ').trim();
  return line === '' ? '' : `: ${line.slice(0, MAX_QUOTE_CHARACTERS)}`;
}

/** @see RFC 9110 section 10.2.3; `retry-after-ms` is OpenAI's own, and finer. */
function readRetryAfter({ headers }: APIError): number | undefined {
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
