import { isUtf8 } from 'node:buffer';
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { z } from 'zod';

import { CallwayError, invalid } from '../base/errors.ts';
import { parseTraceparent } from '../base/tracing.ts';
import { keyOf } from './plugins/accessControl.ts';

export const SESSION_HEADER = 'x-session-id';
const AGENT_VERSION_HEADER = 'x-agent-version';
const MAX_SESSION_ID_CHARACTERS = 255;
const SESSION_ID_RULE = `1 to ${MAX_SESSION_ID_CHARACTERS} characters`;
/** Characters of a header value. @see RFC 9110 section 5.5 */
const HEADER_SAFE = /^[\t\x20-\x7e\x80-\xff]*$/;
const ASCII = /^[\x20-\x7e]*$/;

export const agentVersionHeaders = z.object({
  [AGENT_VERSION_HEADER]: z
    .string()
    .optional()
    .describe(
      '`draft` starts a new session on the working copy. Needs a developer key or the operator’s console session: 403 `developer_key_required`.',
    ),
});

/**
 * Whether the request asks that a new session runs on the working copy.
 *
 * @throws {CallwayError} 403 `developer_key_required`
 */
export function wantsDraft(request: FastifyRequest): boolean {
  if (String(request.headers[AGENT_VERSION_HEADER]).toLowerCase() !== 'draft') return false;
  const { kind } = keyOf(request);
  if (kind === 'developer' || kind === 'operator') return true;
  const message = 'X-Agent-Version: draft needs a developer key (dk_)';
  throw new CallwayError('forbidden', 'developer_key_required', message);
}

/** The `traceparent` header, unless it is malformed. @see https://www.w3.org/TR/trace-context/ */
export function traceparentOf({ headers }: FastifyRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' && parseTraceparent(traceparent) ? traceparent : undefined;
}

/**
 * The locale whose language the client likes best; the first one where it likes none of them.
 *
 * @param acceptLanguage - The header `Accept-Language`.
 * @see RFC 9110 section 12.5.4
 */
export function preferredLocale<Locale extends string>(
  acceptLanguage = '',
  locales: readonly [Locale, ...Locale[]],
): Locale {
  const liked = acceptLanguage.split(',').map((range) => {
    const [tag = '', weight = '1'] = range.split(/;\s*q=/i);
    return { language: languageOf(tag.trim()), weight: Number(weight) };
  });
  const byWeight = liked
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight);
  const found = byWeight.flatMap(({ language }) =>
    locales.filter((locale) => languageOf(locale) === language),
  );
  return found[0] ?? locales[0];
}

const languageOf = (tag: string): string => tag.toLowerCase().replace(/-.*/, '');

/** A session id, chosen by the API's user. */
export const sessionIdField = z
  .string()
  .refine(isSessionId, `{field} must be ${SESSION_ID_RULE}`)
  .meta({ minLength: 1, maxLength: MAX_SESSION_ID_CHARACTERS, example: 'customer-4711' });

/**
 * The session id in the header, decoded as UTF-8 when its bytes are valid UTF-8, else as Latin-1.
 *
 * @throws {CallwayError} 400 `invalid_session_id`
 */
export function sessionIdOfHeader(request: FastifyRequest): string | undefined {
  const header = request.headers[SESSION_HEADER];
  if (header === undefined) return undefined;
  // Node decodes header bytes as Latin-1.
  const bytes = Buffer.from(String(header), 'latin1');
  const id = isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
  if (!isSessionId(id))
    throw invalid('invalid_session_id', `The header X-Session-ID must be ${SESSION_ID_RULE}`);
  return id;
}

/** Sets the session id as UTF-8. An id with control characters fits no header; it is in the body only. */
export function setSessionIdHeader(reply: FastifyReply, sessionId: string): void {
  const value = Buffer.from(sessionId, 'utf8').toString('latin1');
  if (HEADER_SAFE.test(value)) reply.header(SESSION_HEADER, value);
}

/**
 * `onSend` hook for routes that set the session id header. Node writes headers and a text body together as UTF-8, which
 * would encode the header's bytes a second time; with a body of bytes it does not.
 */
export const sendAsBytes: onSendHookHandler<unknown> = (_request, reply, payload, done) => {
  const header = reply.getHeader(SESSION_HEADER);
  const isAscii = typeof header !== 'string' || ASCII.test(header);
  done(null, isAscii || typeof payload !== 'string' ? payload : Buffer.from(payload, 'utf8'));
};

/** Counts characters, not UTF-16 units: an emoji is one. */
function isSessionId(id: string): boolean {
  return id !== '' && (id.length <= MAX_SESSION_ID_CHARACTERS || [...id].length <= MAX_SESSION_ID_CHARACTERS);
}
