import { isUtf8 } from 'node:buffer';
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { z } from 'zod';

import { invalid } from '../base/errors.ts';

export const SESSION_HEADER = 'x-session-id';
const MAX_CHARACTERS = 255;
const FORM = `1 to ${MAX_CHARACTERS} characters`;
/** What a header's value may hold. @see RFC 9110 section 5.5 */
const HEADER_SAFE = /^[\t\x20-\x7e\x80-\xff]*$/;

const ASCII = /^[\x20-\x7e]*$/;

/** The id of a session, chosen by its caller. */
export const sessionIdField = z
  .string()
  .refine(isSessionId, `{field} must be ${FORM}`)
  .meta({ minLength: 1, maxLength: MAX_CHARACTERS, example: 'customer-4711' });

/**
 * The session that the header names, decoded as UTF-8 where its bytes are that.
 *
 * @throws {CallwayError} 400 `invalid_session_id`
 */
export function sessionIdOfHeader(request: FastifyRequest): string | undefined {
  const header = request.headers[SESSION_HEADER];
  if (header === undefined) return undefined;
  // Node gives a header's bytes as Latin-1.
  const bytes = Buffer.from(String(header), 'latin1');
  const id = isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
  if (!isSessionId(id)) throw invalid('invalid_session_id', `The header X-Session-ID must be ${FORM}`);
  return id;
}

/** Sends the id back as UTF-8. One with control characters cannot stand in a header; the body has it. */
export function echoSessionId(reply: FastifyReply, sessionId: string): void {
  const value = Buffer.from(sessionId, 'utf8').toString('latin1');
  if (HEADER_SAFE.test(value)) reply.header(SESSION_HEADER, value);
}

/**
 * An `onSend` hook for routes that echo a session's id. Node writes a header and a body of text in one go, as UTF-8,
 * and would so encode the bytes of the header a second time; a body of bytes leaves them as they are.
 */
export const keepHeaderBytes: onSendHookHandler<unknown> = (_request, reply, payload, done) => {
  const echoed = reply.getHeader(SESSION_HEADER);
  const isPlain = typeof echoed !== 'string' || ASCII.test(echoed);
  done(null, isPlain || typeof payload !== 'string' ? payload : Buffer.from(payload, 'utf8'));
};

/** Counts as people do: an emoji is one. */
function isSessionId(id: string): boolean {
  return id !== '' && (id.length <= MAX_CHARACTERS || [...id].length <= MAX_CHARACTERS);
}
