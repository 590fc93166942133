import type { SipText } from '../sip/message.ts';
import { splitValues } from '../sip/message.ts';
import { sessionBody } from '../sip/sessionBody.ts';

/** How an INVITE is refused that asks for more than we do. */
export interface InviteRefusal {
  readonly status: number;
  readonly headers: Record<string, string>;
}

/** Extensions that the SIP server does for us, or that need nothing done. */
const SUPPORTED = new Set(['100rel', 'timer', 'norefersub', 'histinfo', 'path', 'outbound', 'gruu']);

/** The answer to a body that is no session description. @see RFC 3261 section 21.4.13 */
export const UNREADABLE: InviteRefusal = { status: 415, headers: { Accept: 'application/sdp' } };

/** @returns Undefined for an INVITE that we can take as far as its headers go. @see RFC 3261 section 8.2 */
export function refuseInvite(text: SipText): InviteRefusal | undefined {
  const unknown = text
    .headers('require')
    .flatMap(splitValues)
    .filter((tag) => !SUPPORTED.has(tag.toLowerCase()));
  if (unknown.length > 0) return { status: 420, headers: { Unsupported: unknown.join(', ') } };
  return sessionBody(text).kind === 'unreadable' ? UNREADABLE : undefined;
}
