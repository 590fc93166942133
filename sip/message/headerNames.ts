/** Compact form → lower-case name. @see https://www.iana.org/assignments/sip-parameters, header fields */
const compactForms: Readonly<Record<string, string>> = {
  a: 'accept-contact',
  b: 'referred-by',
  c: 'content-type',
  d: 'request-disposition',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  j: 'reject-contact',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  n: 'identity-info',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
  y: 'identity',
};

/** Irregular names, and those of nearly every message. */
const spellings: Readonly<Record<string, string>> = {
  via: 'Via',
  from: 'From',
  to: 'To',
  contact: 'Contact',
  route: 'Route',
  reason: 'Reason',
  supported: 'Supported',
  require: 'Require',
  'record-route': 'Record-Route',
  'max-forwards': 'Max-Forwards',
  'content-type': 'Content-Type',
  'content-length': 'Content-Length',
  'user-agent': 'User-Agent',
  'call-id': 'Call-ID',
  cseq: 'CSeq',
  rack: 'RAck',
  rseq: 'RSeq',
  'mime-version': 'MIME-Version',
  'min-se': 'Min-SE',
  'sip-etag': 'SIP-ETag',
  'sip-if-match': 'SIP-If-Match',
  'www-authenticate': 'WWW-Authenticate',
  'p-associated-uri': 'P-Associated-URI',
};

/** The lower-case long name of a header. */
export function headerKey(name: string): string {
  const lower = name.toLowerCase();
  return (lower.length === 1 ? compactForms[lower] : undefined) ?? lower;
}

/** The usual spelling of a name; extension headers (`X-…`) are unchanged. */
export function spellHeader(name: string): string {
  const key = headerKey(name);
  const usual = spellings[key];
  if (usual !== undefined) return usual;
  return key.startsWith('x-') ? name : key.replace(/(^|-)([a-z])/g, (part) => part.toUpperCase());
}
