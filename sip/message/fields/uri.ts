import { SipParseError } from '../errors.ts';
import { formatParams, isToken, type Params } from '../grammar.ts';

export interface SipUri {
  readonly scheme: 'sip' | 'sips';
  /** The user as written, still escaped; `undefined` when there is none. */
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Name, IPv4 literal, or IPv6 literal in brackets; lower-case. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
  /** The text after `?`, as written. */
  readonly headers: string | undefined;
}

export interface TelUri {
  readonly scheme: 'tel';
  readonly number: string;
  readonly params: Params;
}

/** A URI of another scheme, which is only forwarded. */
interface OtherUri {
  readonly scheme: 'other';
  readonly name: string;
  readonly text: string;
}

export type Uri = SipUri | TelUri | OtherUri;

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/;
const USER = /^(?:[A-Za-z0-9\-_.!~*'()&=+$,;?/#[\]]|%[0-9A-Fa-f]{2})*$/;
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9.])?|\[[0-9A-Fa-f:.]+\])$/;
const PARAM = /^(?:[A-Za-z0-9\-_.!~*'()[\]/:&+$]|%[0-9A-Fa-f]{2})+$/;
const TEL = /^(?:\+[\d().-]+|[\dA-Fa-f*#().-]+)$/;

/**
 * Parses a SIP, SIPS or tel URI; others are kept as text.
 *
 * @param text - The URI without angle brackets.
 * @throws {SipParseError} On blanks, control characters, a bad host or port, or no scheme.
 * @see RFC 3261 section 19.1, RFC 3966
 */
export function parseUri(text: string): Uri {
  const scheme = SCHEME.exec(text);
  if (!scheme?.[1] || hasBlank(text)) throw new SipParseError('uri', 'a URI is malformed');
  const name = scheme[1].toLowerCase();
  const rest = text.slice(scheme[0].length);
  if (name === 'sip' || name === 'sips') return parseSipUri(name, rest);
  if (name === 'tel') return parseTelUri(rest);
  if (rest === '') throw new SipParseError('uri', 'a URI has nothing but a scheme');
  return { scheme: 'other', name, text };
}

/**
 * Parses a URI that a request can be sent to.
 *
 * @throws {SipParseError} When it is not a sip or sips URI.
 */
export function parseRoutableUri(text: string): SipUri {
  const uri = parseUri(text);
  if (uri.scheme === 'sip' || uri.scheme === 'sips') return uri;
  throw new SipParseError('uri', 'only sip: and sips: URIs can be routed', 416);
}

export function formatUri(uri: Uri): string {
  if (uri.scheme === 'other') return uri.text;
  if (uri.scheme === 'tel') return `tel:${uri.number}${formatParams(uri.params)}`;
  const user =
    uri.user === undefined ? '' : `${uri.user}${uri.password === undefined ? '' : `:${uri.password}`}@`;
  const port = uri.port === undefined ? '' : `:${uri.port}`;
  const headers = uri.headers === undefined ? '' : `?${uri.headers}`;
  return `${uri.scheme}:${user}${uri.host}${port}${formatParams(uri.params)}${headers}`;
}

/** An IPv6 address in brackets, as in a URI and a Via; anything else unchanged. */
export function bracketed(address: string): string {
  return address.includes(':') && !address.startsWith('[') ? `[${address}]` : address;
}

export function unbracketed(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/**
 * Parses `host` or `host:port`.
 *
 * @throws {SipParseError}
 */
export function parseHostPort(text: string): { host: string; port: number | undefined } {
  const colon = text.startsWith('[') ? text.indexOf(']:') + 1 : text.lastIndexOf(':');
  const host = colon > 0 ? text.slice(0, colon).trimEnd() : text;
  if (!HOST.test(host)) throw new SipParseError('uri', 'a host is malformed');
  if (colon <= 0) return { host: host.toLowerCase(), port: undefined };
  const digits = text.slice(colon + 1).trim();
  const port = Number(digits);
  if (!/^\d{1,5}$/.test(digits) || port === 0 || port > 65_535)
    throw new SipParseError('uri', 'a port is malformed');
  return { host: host.toLowerCase(), port };
}

function hasBlank(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x20 || code === 0x7f || code === 0x3c || code === 0x3e) return true;
  }
  return false;
}

function parseSipUri(scheme: 'sip' | 'sips', rest: string): SipUri {
  const at = rest.indexOf('@');
  // A caller without a number may have an empty user.
  const userInfo = at <= 0 ? undefined : rest.slice(0, at);
  const afterUser = rest.slice(at + 1);
  const question = afterUser.indexOf('?');
  const hostPart = question < 0 ? afterUser : afterUser.slice(0, question);
  const [hostPort = '', ...paramTexts] = hostPart.split(';');
  const colon = userInfo?.indexOf(':') ?? -1;
  const user = colon < 0 ? userInfo : userInfo?.slice(0, colon);
  const password = colon < 0 ? undefined : userInfo?.slice(colon + 1);
  if (!USER.test(user ?? '') || !USER.test(password ?? '')) {
    throw new SipParseError('uri', `a URI's user part is malformed`);
  }
  return {
    scheme,
    user,
    password,
    ...parseHostPort(hostPort),
    params: uriParams(paramTexts),
    headers: question < 0 ? undefined : afterUser.slice(question + 1),
  };
}

function parseTelUri(rest: string): TelUri {
  const [number = '', ...paramTexts] = rest.split(';');
  if (!TEL.test(number)) throw new SipParseError('uri', 'a telephone number is malformed');
  return { scheme: 'tel', number, params: uriParams(paramTexts) };
}

function uriParams(texts: readonly string[]): Params {
  const params: Params = new Map();
  for (const text of texts) {
    const equals = text.indexOf('=');
    const name = equals < 0 ? text : text.slice(0, equals);
    const value = equals < 0 ? '' : text.slice(equals + 1);
    if (!(isToken(name) || PARAM.test(name)) || (value !== '' && !PARAM.test(value))) {
      throw new SipParseError('uri', `a URI's parameter is malformed`);
    }
    params.set(name.toLowerCase(), value);
  }
  return params;
}
