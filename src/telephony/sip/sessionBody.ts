import type { SipText } from './message.ts';

/** What a message says about the session. */
export type SessionBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'description'; readonly sdp: string }
  /** Something that we cannot read, and should. */
  | { readonly kind: 'unreadable' };

const NONE: SessionBody = { kind: 'none' };
const SDP = /^\s*application\/sdp\s*(?:;|$)/i;
const MULTIPART = /^\s*multipart\/[\w.+-]+\s*;/i;
const OPTIONAL = /;\s*handling\s*=\s*"?optional/i;

/**
 * Finds the session description of a message: its body, or a part of it where a switch sends its own signalling along.
 *
 * @see RFC 3261 section 7.4, RFC 5621, RFC 3204
 */
export function sessionBody(text: SipText): SessionBody {
  const { body } = text;
  if (body.trim() === '') return NONE;
  const type = text.header('content-type') ?? '';
  const isEncoded = !/^(?:identity)?$/i.test(text.header('content-encoding') ?? '');
  const isPlain = SDP.test(type) || (type === '' && body.startsWith('v=0'));
  if (isPlain && !isEncoded) return { kind: 'description', sdp: body };
  if (MULTIPART.test(type) && !isEncoded) return partOf(type, body);
  return OPTIONAL.test(text.header('content-disposition') ?? '') ? NONE : { kind: 'unreadable' };
}

/** The description of a message, '' when there is none that we can read. */
export function descriptionOf(text: SipText): string {
  const found = sessionBody(text);
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
