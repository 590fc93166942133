/** A SIP message as text, whose headers are looked up when they are asked for. */
export interface SipText {
  /** Request line or status line. */
  readonly startLine: string;
  readonly body: string;
  /** The first header of that name, compact form or not; undefined when there is none. */
  header(name: string): string | undefined;
  /** Each header line of that name, in order. */
  headers(name: string): readonly string[];
  /** As it was on the wire. */
  readonly raw: string;
}

/** @see RFC 3261 section 7.3.3, RFC 3515, RFC 4028 */
const COMPACT: Readonly<Record<string, string>> = {
  i: 'call-id',
  m: 'contact',
  e: 'content-encoding',
  l: 'content-length',
  c: 'content-type',
  f: 'from',
  s: 'subject',
  k: 'supported',
  t: 'to',
  v: 'via',
  r: 'refer-to',
  b: 'referred-by',
  o: 'event',
  x: 'session-expires',
};

/** Reads a message that the SIP server has already found to be one; lines that are no headers are passed over. */
export function readSipText(raw: string): SipText {
  const end = raw.indexOf('\r\n\r\n');
  const head = (end < 0 ? raw : raw.slice(0, end)).replace(/\r\n[ \t]+/g, ' ');
  const [startLine = '', ...lines] = head.split('\r\n');
  const fields = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    if (colon < 1) return [];
    const name = line.slice(0, colon).trim().toLowerCase();
    return [[COMPACT[name] ?? name, line.slice(colon + 1).trim()] as const];
  });
  const headers = (name: string) =>
    fields.filter(([key]) => key === name.toLowerCase()).map(([, value]) => value);
  return {
    startLine,
    body: end < 0 ? '' : raw.slice(end + 4),
    header: (name) => headers(name)[0],
    headers,
    raw,
  };
}

/**
 * Splits a header's value at the commas that separate values, not at those inside of quotes or angle brackets.
 *
 * @see RFC 3261 section 7.3.1
 */
export function splitValues(value: string): string[] {
  const parts: string[] = [];
  let part = '';
  let isQuoted = false;
  let isBracketed = false;
  for (let at = 0; at < value.length; at += 1) {
    const character = value.charAt(at);
    if (isQuoted && character === '\\') {
      part += character + value.charAt(at + 1);
      at += 1;
      continue;
    }
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character === '<') isBracketed = true;
    else if (!isQuoted && character === '>') isBracketed = false;
    if (character === ',' && !isQuoted && !isBracketed) {
      parts.push(part.trim());
      part = '';
    } else part += character;
  }
  return [...parts, part.trim()].filter((one) => one !== '');
}
