import { SipParseError } from '../errors.ts';
import { endOfQuoted, isToken, type Params, parseParams } from '../grammar.ts';
import { parseUri } from './uri.ts';

/** The value of From, To, Contact, Route, Record-Route, Refer-To and similar headers. */
export interface NameAddr {
  /** As written, with its quotes; `''` when there is none. */
  readonly displayName: string;
  /** The URI without brackets. */
  readonly uri: string;
  /** The header's parameters, not the URI's. */
  readonly params: Params;
}

/**
 * Parses `"Name" <uri>;params` or `uri;params`.
 *
 * Without brackets everything after the first semicolon belongs to the header, and the URI may hold no comma,
 * question mark or semicolon.
 *
 * @throws {SipParseError}
 * @see RFC 3261 section 20.10
 */
export function parseNameAddr(text: string): NameAddr {
  const trimmed = text.trim();
  const nameEnd = trimmed.startsWith('"') ? endOfQuoted(trimmed, 0) : 0;
  const open = trimmed.indexOf('<', nameEnd);
  if (open < 0) return parseBare(trimmed, nameEnd);
  const close = trimmed.indexOf('>', open);
  if (close < 0) throw new SipParseError('header_value', 'an address is never closed');
  const displayName = trimmed.slice(0, open).trim();
  if (nameEnd === 0) requireTokens(displayName);
  else if (displayName.length !== nameEnd)
    throw new SipParseError('header_value', 'a display name is malformed');
  const uri = trimmed.slice(open + 1, close);
  parseUri(uri);
  return { displayName, uri, params: parseParams(trimmed.slice(close + 1).trim()) };
}

/** The tag of a From or To value, without validating the rest. */
export function tagOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const afterAddress = value.slice(value.lastIndexOf('>') + 1);
  return /;\s*tag\s*=\s*([^;\s]+)/i.exec(afterAddress)?.[1];
}

/** The value with this tag instead of any other. */
export function withTag(value: string, tag: string): string {
  const close = value.lastIndexOf('>') + 1;
  const bare = value.slice(close).replace(/;\s*tag\s*=\s*[^;\s]*/i, '');
  return `${value.slice(0, close)}${bare};tag=${tag}`;
}

function parseBare(text: string, nameEnd: number): NameAddr {
  const semicolon = text.indexOf(';');
  const uri = (semicolon < 0 ? text : text.slice(0, semicolon)).trim();
  if (nameEnd > 0 || /[,?]/.test(uri))
    throw new SipParseError('header_value', 'an address lacks its brackets');
  parseUri(uri);
  return { displayName: '', uri, params: parseParams(semicolon < 0 ? '' : text.slice(semicolon)) };
}

function requireTokens(displayName: string): void {
  if (displayName === '' || displayName.split(/\s+/).every(isToken)) return;
  throw new SipParseError('header_value', 'a display name is not made of tokens');
}
