import { randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONSOLE_SESSION_MS } from '../../agents/accounts/consoleSessions.ts';
import { CallwayError } from '../../base/errors.ts';

const COOKIE = 'callway_session';
const ID_BYTES = 32;
const ID = /^[\w-]{43}$/;
const HEADER = 'x-callway-console';
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** The id of the browser's session. */
export function consoleCookieOf({ headers }: FastifyRequest): string | undefined {
  const id = parseCookie(headers.cookie ?? '')[COOKIE];
  return id !== undefined && ID.test(id) ? id : undefined;
}

/** @returns The id of a new session. */
export function setConsoleCookie(reply: FastifyReply, publicUrl: string): string {
  const id = randomBytes(ID_BYTES).toString('base64url');
  setCookie(reply, publicUrl, id, CONSOLE_SESSION_MS / 1000);
  return id;
}

export function clearConsoleCookie(reply: FastifyReply, publicUrl: string): void {
  setCookie(reply, publicUrl, '', 0);
}

/**
 * A page of another site cannot send the header: cookies alone authenticate no change, and open no WebSocket, which pages
 * of any origin may ask for.
 *
 * @throws {CallwayError} 403 `console_header_required`
 */
export function requireConsoleHeader({ method, headers }: FastifyRequest): void {
  const isRead = SAFE_METHODS.includes(method) && headers.upgrade === undefined;
  if (isRead || headers[HEADER] === '1') return;
  const message = 'Requests that change something need the header X-Callway-Console: 1 beside the cookie';
  throw new CallwayError('forbidden', 'console_header_required', message);
}

/** @see RFC 6265 section 4.1 */
function setCookie(reply: FastifyReply, publicUrl: string, value: string, maxAge: number): void {
  const secure = reply.request.protocol === 'https' || publicUrl.startsWith('https:');
  const attributes = { path: '/', httpOnly: true, sameSite: 'strict', secure, maxAge } as const;
  reply.header('set-cookie', stringifySetCookie(COOKIE, value, attributes));
}
