import type { SipMessage } from '../../../sip/message/message.ts';

/** The session description of a message, if any. */
export type SessionBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'description'; readonly sdp: string }
  /** A body of another type, which may not be ignored. */
  | { readonly kind: 'unreadable' };

/** The response to a body that is no session description. @see RFC 3261 section 21.4.13 */
export const UNSUPPORTED_BODY = { status: 415, headers: { Accept: 'application/sdp' } } as const;

const NONE: SessionBody = { kind: 'none' };
const SDP = /^\s*application\/sdp\s*(?:;|$)/i;
const MULTIPART = /^\s*multipart\/[\w.+-]+\s*;/i;
const OPTIONAL = /;\s*handling\s*=\s*"?optional/i;

/**
 * Finds the session description of a message: its body, or one part of a multipart body, as from switches that add
 * their own signaling.
 *
 * @see RFC 3261 section 7.4, RFC 5621, RFC 3204
 */
export function sessionBody({ headers, body }: SipMessage): SessionBody {
  if (body.trim() === '') return NONE;
  const type = headers.get('content-type') ?? '';
  const isEncoded = !/^(?:identity)?$/i.test(headers.get('content-encoding') ?? '');
  const isPlain = SDP.test(type) || (type === '' && body.startsWith('v=0'));
  if (isPlain && !isEncoded) return { kind: 'description', sdp: body };
  if (MULTIPART.test(type) && !isEncoded) return partOf(type, body);
  return OPTIONAL.test(headers.get('content-disposition') ?? '') ? NONE : { kind: 'unreadable' };
}

/** The session description of a message; '' when there is none or it is unreadable. */
export function descriptionOf(message: SipMessage): string {
  const found = sessionBody(message);
  return found.kind === 'description' ? found.sdp : '';
}

/** @see RFC 2046 section 5.1.1 */
function partOf(type: string, body: string): SessionBody {
  const [, quoted, bare] = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(type) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) return { kind: 'unreadable' };
  const parts = `\r\n${body}`.split(`\r\n--${boundary}`).slice(1);
  for (const part of parts) {
    const end = part.indexOf('\r\n\r\n');
    const head = end < 0 ? '' : part.slice(0, end);
    const partType = /^content-type:(.*)$/im.exec(head)?.[1] ?? '';
    if (SDP.test(partType)) return { kind: 'description', sdp: `${part.slice(end + 4).trimEnd()}\r\n` };
  }
  return NONE;
}
