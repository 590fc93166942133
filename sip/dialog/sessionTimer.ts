import { SipParseError } from '../message/errors.ts';
import {
  formatSessionExpires,
  parseSessionExpires,
  type SessionExpires,
} from '../message/fields/sessionExpires.ts';
import type { SipHeaders } from '../message/headers.ts';
import type { SipRequest } from '../message/message.ts';

/** A negotiated session interval. @see RFC 4028 */
export interface SessionTimer {
  readonly intervalSeconds: number;
  readonly weRefresh: boolean;
  /** Min-SE of the peer's 422, if any. */
  readonly minimumSeconds?: number;
}

/** The time before the expiry at which the side that does not refresh sends BYE. @see RFC 4028 section 10 */
const LEAD_SECONDS = 32;

/** Returns true when a request's Session-Expires is below the minimum. */
export function isIntervalTooSmall({ headers }: SipRequest, minSeconds: number): boolean {
  const asked = readSessionExpires(headers);
  return asked !== undefined && supportsTimer(headers) && asked.intervalSeconds < minSeconds;
}

/**
 * Negotiates the session timer for our 2xx, from the request and the application's response. Writes Session-Expires
 * and Require into the response.
 *
 * @see RFC 4028 section 9
 */
export function negotiateAsUas(request: SipRequest, answer: SipHeaders): SessionTimer | undefined {
  const own = readSessionExpires(answer);
  const asked = readSessionExpires(request.headers) ?? own;
  if (asked === undefined) return undefined;
  const peerSupports = supportsTimer(request.headers);
  const chosen = own ?? asked;
  // A peer without timer support cannot refresh.
  const refresher = peerSupports ? (asked.refresher ?? chosen.refresher ?? 'uac') : 'uas';
  const agreed: SessionExpires = {
    intervalSeconds: Math.min(asked.intervalSeconds, chosen.intervalSeconds),
    refresher,
  };
  answer.set('session-expires', formatSessionExpires(agreed));
  if (refresher === 'uac') addToken(answer, 'require', 'timer');
  return { intervalSeconds: agreed.intervalSeconds, weRefresh: refresher === 'uas' };
}

/** The session timer of a 2xx to our request; undefined when neither names one. @see RFC 4028 section 7.2 */
export function negotiatedByUac(request: SipRequest, answer: SipHeaders): SessionTimer | undefined {
  const agreed = readSessionExpires(answer);
  if (agreed) return { intervalSeconds: agreed.intervalSeconds, weRefresh: agreed.refresher !== 'uas' };
  const asked = readSessionExpires(request.headers);
  return asked && { intervalSeconds: asked.intervalSeconds, weRefresh: true };
}

/** The timer with the Min-SE of a 422; undefined when that is not longer. @see RFC 4028 section 6 */
export function withMinSe(timer: SessionTimer, refusal: SipHeaders): SessionTimer | undefined {
  const minimumSeconds = Number(/^\s*(\d{1,9})/.exec(refusal.get('min-se') ?? '')?.[1] ?? 0);
  if (minimumSeconds <= timer.intervalSeconds) return undefined;
  return { ...timer, intervalSeconds: minimumSeconds, minimumSeconds };
}

/** Returns the delays after which the refresher refreshes and the other side sends BYE. */
export function sessionDelays(timer: SessionTimer): { refreshMs: number; expireMs: number } {
  const { intervalSeconds } = timer;
  const lead = Math.min(LEAD_SECONDS, intervalSeconds / 3);
  return { refreshMs: (intervalSeconds * 1000) / 2, expireMs: (intervalSeconds - lead) * 1000 };
}

/** A malformed value counts as none. @see RFC 3261 section 8.2.2 */
function readSessionExpires(headers: SipHeaders): SessionExpires | undefined {
  const value = headers.get('session-expires');
  try {
    return value === undefined ? undefined : parseSessionExpires(value);
  } catch (error) {
    if (error instanceof SipParseError) return undefined;
    throw error;
  }
}

function supportsTimer(headers: SipHeaders): boolean {
  return hasToken(headers, 'supported', 'timer') || hasToken(headers, 'require', 'timer');
}

/** Returns true when a list header has a token. */
export function hasToken(headers: SipHeaders, name: string, token: string): boolean {
  return headers.list(name).some((value) => value.toLowerCase() === token);
}

export function addToken(headers: SipHeaders, name: string, token: string): void {
  if (!hasToken(headers, name, token)) headers.set(name, [...headers.list(name), token].join(', '));
}
