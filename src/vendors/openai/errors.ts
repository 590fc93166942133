import { APIConnectionError, APIError } from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources';
import { type Refusal, type Remedy, without } from '../../models/chat/refusals.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { ChatBody } from './chatBody.ts';

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

export interface Redactor {
  /** Removes the key, and everything that looks like one, from a text. */
  redact(text: string): string;
}

/** Fields that no request goes without. */
export const REQUIRED_FIELDS: readonly string[] = ['model', 'messages', 'stream', 'tools'];

/**
 * Lists the features that some models behind OpenAI-compatible endpoints refuse, and how a request does without each.
 */
export const REMEDIES: readonly Remedy<ChatBody>[] = [
  {
    // Models that reason before they answer have the limit under another name, since their thoughts count.
    name: 'max_tokens in place of max_completion_tokens',
    refusal: /max_completion_tokens/,
    isIn: (body) => body.max_tokens !== undefined,
    apply: ({ max_tokens = null, ...body }) => ({ ...body, max_completion_tokens: max_tokens }),
  },
  {
    name: 'max_completion_tokens in place of max_tokens',
    refusal: /max_completion_tokens/,
    isIn: (body) => body.max_completion_tokens !== undefined,
    apply: ({ max_completion_tokens = null, ...body }) => ({ ...body, max_tokens: max_completion_tokens }),
  },
  {
    name: 'reasoning beside tools',
    refusal: /tools.*reasoning_effort|reasoning_effort.*(?:tools|'none')/i,
    isIn: (body) => body.tools !== undefined && body.reasoning_effort !== 'none',
    apply: (body) => ({ ...body, reasoning_effort: 'none' }),
  },
  {
    name: 'forced tool_choice',
    refusal: /tool[_ ]choice/i,
    isIn: ({ tool_choice: choice }) => choice === 'required' || typeof choice === 'object',
    apply: (body) => ({
      ...body,
      messages: [...body.messages, { role: 'system', content: choicePrompt(body) }],
      tool_choice: 'auto',
    }),
  },
  without('stream_options', { isGuessed: true }),
  {
    name: 'json_schema',
    refusal: /response_format|json_schema|specified schema/,
    // OpenAI's of what structured outputs do not take, and Google's of a schema that is too large.
    ofRequest: /invalid schema|specified schema/i,
    isGuessed: true,
    isIn: ({ response_format: format }) => format?.type === 'json_schema',
    apply: (body) => ({
      ...body,
      messages: [...body.messages, ...schemaPrompt(body)],
      response_format: { type: 'json_object' },
    }),
  },
  // Several servers take a format or tools.
  without('response_format', { refusal: /json mode|response mime type|grammar/i }),
  without('temperature', { isGuessed: true }),
  // Ollama and Google say what the effort becomes.
  without('reasoning_effort', { refusal: /\bthink(?:ing)?\b/i, isGuessed: true }),
  {
    // Chat templates of several open models accept a system message only at the start.
    name: 'system messages after the first',
    refusal: /system|\broles?\b|jinja|chat template/i,
    isVague: true,
    isGuessed: true,
    isIn: ({ messages }) => messages.some(({ role }, index) => role === 'system' && index > 0),
    apply: (body) => ({ ...body, messages: mergeSystemMessages(body.messages) }),
  },
];

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

function choicePrompt({ tool_choice: choice }: ChatBody): string {
  const isNamed = typeof choice === 'object' && choice.type === 'function';
  return isNamed ? `Answer by calling the tool ${choice.function.name}.` : 'Answer by calling a tool.';
}

/** Returns a prompt with the schema, since plain JSON mode does not give the model the keys. */
function schemaPrompt({ response_format: format }: ChatBody): ChatCompletionMessageParam[] {
  if (format?.type !== 'json_schema' || !format.json_schema.schema) return [];
  const content = `Answer with JSON of this schema: ${JSON.stringify(format.json_schema.schema)}`;
  return [{ role: 'system', content }];
}

/** Moves system messages to the first one, and those after the conversation into its last user message. */
function mergeSystemMessages(messages: readonly ChatCompletionMessageParam[]): ChatCompletionMessageParam[] {
  const lastOther = messages.findLastIndex(({ role }) => role !== 'system');
  const instructions = messages.slice(0, Math.max(1, lastOther)).filter(({ role }) => role === 'system');
  const finalInstructions = messages.slice(Math.max(1, lastOther + 1)).map(contentOf);
  const conversation = messages.slice(0, lastOther + 1).filter(({ role }) => role !== 'system');
  const last = conversation.at(-1);
  const isUserLast = last?.role === 'user';
  const finalTexts = isUserLast ? [contentOf(last), ...finalInstructions] : finalInstructions;
  return joinUserMessages([
    { role: 'system', content: instructions.map(contentOf).join('\n\n') },
    ...(isUserLast ? conversation.slice(0, -1) : conversation),
    ...(finalTexts.length > 0 ? [{ role: 'user' as const, content: finalTexts.join('\n\n') }] : []),
  ]);
}

/** The same templates want the roles to alternate: an unanswered message and the next one become one. */
function joinUserMessages(messages: readonly ChatCompletionMessageParam[]): ChatCompletionMessageParam[] {
  const joined: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role !== 'user' || last?.role !== 'user') joined.push(message);
    else joined[joined.length - 1] = { role: 'user', content: `${contentOf(last)}\n\n${contentOf(message)}` };
  }
  return joined;
}

function contentOf({ content }: ChatCompletionMessageParam): string {
  return typeof content === 'string' ? content : '';
}

/**
 * Reads vendors' JSON field by field. A field of an unexpected type counts as absent, since one odd field must not fail
 * the answer; a schema would run for every token.
 */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A number of tokens; endpoints that do not count send null, -1 or an estimate with a fraction. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
