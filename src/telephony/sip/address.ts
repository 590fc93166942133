/** `"Name" <sip:user@host>;tag=…`, as in From, To, Contact and Refer-To. */
export interface NameAddress {
  readonly uri: string;
  /** Of the header, not of the URI; names in lower case, '' where a parameter has no value. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A `sip:`, `sips:` or `tel:` URI. */
export interface SipUri {
  readonly scheme: string;
  /** Percent-decoded, without what follows a `;`; a `tel:` URI's number. '' when there is none. */
  readonly user: string;
  /** Without brackets; '' in a `tel:` URI. */
  readonly host: string;
  readonly port: number | undefined;
  /** Names in lower case. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What follows a `?`, without it. */
  readonly headers: string;
}

/** @returns Undefined for what is no address. @see RFC 3261 section 20.10 */
export function readNameAddress(value: string): NameAddress | undefined {
  const bracketed = /^(?:\s*"(?:[^"\\]|\\.)*"|[^<"]*)\s*<([^>]+)>(.*)$/s.exec(value);
  if (bracketed) return { uri: (bracketed[1] ?? '').trim(), parameters: readParameters(bracketed[2] ?? '') };
  const [uri = '', ...rest] = value.split(';');
  return /^[a-z][a-z0-9+.-]*:/i.test(uri.trim())
    ? { uri: uri.trim(), parameters: readParameters(rest.join(';')) }
    : undefined;
}

const SIP_URI =
  /^(sips?):(?:([^@?\s]*)@)?(\[[0-9a-f:.]+\]|[^\s:;?@[\]]+)(?::(\d{1,5}))?((?:;[^?]*)?)(?:\?(.*))?$/i;
const TEL_URI = /^tel:([^;?]+)((?:;[^?]*)?)$/i;

/** @returns Undefined for any other scheme, and for what is none. @see RFC 3261 section 19.1, RFC 3966 */
export function readUri(text: string): SipUri | undefined {
  const tel = TEL_URI.exec(text);
  if (tel) {
    const parameters = readParameters(tel[2] ?? '');
    const user = (tel[1] ?? '').replace(/[-.()]/g, '');
    return { scheme: 'tel', user, host: '', port: undefined, parameters, headers: '' };
  }
  const match = SIP_URI.exec(text);
  if (!match) return undefined;
  const [, scheme = '', userInfo = '', host = '', port, parameters = '', headers = ''] = match;
  const [user = ''] = userInfo.split(/[;:]/);
  return {
    scheme: scheme.toLowerCase(),
    user: decoded(user),
    host: host.replace(/^\[|\]$/g, ''),
    port: port === undefined ? undefined : Number(port),
    parameters: readParameters(parameters),
    headers,
  };
}

/** The user part as a URI may carry it. @see RFC 3261 section 25.1 (user) */
export function encodeUser(user: string): string {
  return encodeURIComponent(user).replace(/%(?:21|24|26|27|28|29|2A|2B|2C|2F|3D)/g, decodeURIComponent);
}

/** An IPv6 address in brackets, anything else as it is. */
export function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function readParameters(text: string): Record<string, string> {
  const pairs = text.split(';').flatMap((part) => {
    const [name = '', ...value] = part.trim().split('=');
    const key = name.trim().toLowerCase();
    return key === ''
      ? []
      : [
          [
            key,
            value
              .join('=')
              .trim()
              .replace(/^"(.*)"$/, '$1'),
          ] as const,
        ];
  });
  return Object.fromEntries(pairs);
}

function decoded(user: string): string {
  try {
    return decodeURIComponent(user);
  } catch {
    // A stray percent sign; the user is taken as it stands.
    return user;
  }
}
