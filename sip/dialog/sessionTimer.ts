import { SipParseError } from '../message/errors.ts';
import {
  formatSessionExpires,
  parseSessionExpires,
  type SessionExpires,
} from '../message/fields/sessionExpires.ts';
import type { SipHeaders } from '../message/headers.ts';
import type { SipRequest } from '../message/message.ts';

/** A dialog that ends unless somebody refreshes it. @see RFC 4028 */
export interface SessionTimer {
  readonly intervalSeconds: number;
  readonly weRefresh: boolean;
  /** What the peer said is too small before; only of a timer that was lengthened. */
  readonly minimumSeconds?: number;
}

/** How long before the end the side that waits gives up. @see RFC 4028 section 10 */
const LEAD_SECONDS = 32;

/** The interval that is too small, if the request asks for one. @throws {SipParseError} */
export function isIntervalTooSmall(request: SipRequest, minSeconds: number): boolean {
  const value = request.headers.get('session-expires');
  if (value === undefined || !supportsTimer(request.headers)) return false;
  return parseSessionExpires(value).intervalSeconds < minSeconds;
}

/**
 * What a 2xx of ours says to the session timer that the request (or the application's answer) asks for, and what
 * follows for us. Writes Session-Expires and Require into the answer.
 *
 * @throws {SipParseError}
 * @see RFC 4028 section 9
 */
export function negotiateAsUas(request: SipRequest, answer: SipHeaders): SessionTimer | undefined {
  const own = answer.get('session-expires');
  const theirs = request.headers.get('session-expires');
  if (own === undefined && theirs === undefined) return undefined;
  const peerSupports = supportsTimer(request.headers);
  const asked = parseSessionExpires(theirs ?? own ?? '');
  const chosen = own === undefined ? asked : parseSessionExpires(own);
  // A peer that does not know timers cannot refresh: then it is us.
  const refresher = peerSupports ? (asked.refresher ?? chosen.refresher ?? 'uac') : 'uas';
  const agreed: SessionExpires = {
    intervalSeconds: Math.min(asked.intervalSeconds, chosen.intervalSeconds),
    refresher,
  };
  answer.set('session-expires', formatSessionExpires(agreed));
  if (refresher === 'uac') addToken(answer, 'require', 'timer');
  return { intervalSeconds: agreed.intervalSeconds, weRefresh: refresher === 'uas' };
}

/** What a 2xx to our request means; one that cannot be read means no timer. @see RFC 4028 section 7.2 */
export function negotiatedByUac(request: SipRequest, answer: SipHeaders): SessionTimer | undefined {
  try {
    return readClientTimer(request, answer);
  } catch (error) {
    if (error instanceof SipParseError) return undefined;
    throw error;
  }
}

function readClientTimer(request: SipRequest, answer: SipHeaders): SessionTimer | undefined {
  const agreed = answer.get('session-expires');
  if (agreed !== undefined) {
    const { intervalSeconds, refresher } = parseSessionExpires(agreed);
    return { intervalSeconds, weRefresh: refresher !== 'uas' };
  }
  const asked = request.headers.get('session-expires');
  if (asked === undefined) return undefined;
  return { intervalSeconds: parseSessionExpires(asked).intervalSeconds, weRefresh: true };
}

/** The timer with the interval that a 422 asks for; nothing when it asks for no longer one. @see RFC 4028 section 6 */
export function withMinSe(timer: SessionTimer, refusal: SipHeaders): SessionTimer | undefined {
  const minimumSeconds = Number(/^\s*(\d{1,9})/.exec(refusal.get('min-se') ?? '')?.[1] ?? 0);
  if (minimumSeconds <= timer.intervalSeconds) return undefined;
  return { ...timer, intervalSeconds: minimumSeconds, minimumSeconds };
}

/** After how long the side that refreshes does so, and the side that waits gives up. */
export function sessionDelays(timer: SessionTimer): { refreshMs: number; expireMs: number } {
  const { intervalSeconds } = timer;
  const lead = Math.min(LEAD_SECONDS, intervalSeconds / 3);
  return { refreshMs: (intervalSeconds * 1000) / 2, expireMs: (intervalSeconds - lead) * 1000 };
}

export function supportsTimer(headers: SipHeaders): boolean {
  return hasToken(headers, 'supported', 'timer') || hasToken(headers, 'require', 'timer');
}

/** Whether a list of option tags names one. */
export function hasToken(headers: SipHeaders, name: string, token: string): boolean {
  return headers.list(name).some((value) => value.toLowerCase() === token);
}

export function addToken(headers: SipHeaders, name: string, token: string): void {
  if (!hasToken(headers, name, token)) headers.set(name, [...headers.list(name), token].join(', '));
}
