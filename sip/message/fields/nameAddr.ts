import { SipParseError } from '../errors.ts';
import { endOfQuoted, type Params, parseParams, splitOutside } from '../grammar.ts';
import { parseUri } from './uri.ts';

/** The value of From, To, Contact, Route, Record-Route, Refer-To and similar headers. */
export interface NameAddr {
  /** The name as written, with its quotes; `''` when there is none. */
  readonly displayName: string;
  /** The URI without brackets. */
  readonly uri: string;
  /** The header's parameters, not the URI's. */
  readonly params: Params;
}

/** The parts of an address, not parsed. */
interface AddressParts {
  readonly displayName: string;
  readonly uri: string;
  /** The text after the address: empty, or starting with `;`. */
  readonly params: string;
}

const BRACKETED = /<\s*([A-Za-z][A-Za-z0-9+.-]*:[^<>]*)>/g;

/**
 * Parses `"Name" <uri>;params` or `uri;params`. A display name may have any characters, also without quotes or with
 * one quote: the address is what stands in brackets and begins with a scheme.
 *
 * Without brackets, everything after the first semicolon belongs to the header, and the URI may have no comma, question
 * mark or semicolon.
 *
 * @throws {SipParseError}
 * @see RFC 3261 section 20.10, RFC 4475 sections 3.1.2.6 and 3.1.2.15
 */
export function parseNameAddr(text: string): NameAddr {
  const { displayName, uri, params } = splitNameAddr(text);
  parseUri(uri);
  return { displayName, uri, params: parseParams(params) };
}

/** Finds the parts of an address without parsing them. @throws {SipParseError} When there is no address. */
export function splitNameAddr(text: string): AddressParts {
  const trimmed = text.trim();
  const nameEnd = endOfQuoted(trimmed, 0) ?? 0;
  const found = firstBracketed(trimmed, nameEnd) ?? firstBracketed(trimmed, 0);
  if (!found?.[1]) return splitBare(trimmed, nameEnd);
  const displayName = trimmed.slice(0, found.index).trim();
  return {
    displayName,
    uri: found[1].trimEnd(),
    params: trimmed.slice(found.index + found[0].length).trim(),
  };
}

/**
 * Splits a list of addresses. What precedes a comma and has no URI is the beginning of a display name without quotes.
 *
 * @throws {SipParseError} On an angle bracket that is never closed.
 */
export function splitAddresses(value: string): string[] {
  const addresses: string[] = [];
  let name = '';
  for (const piece of splitOutside(value, ',')) {
    const address = name === '' ? piece : `${name}, ${piece}`;
    const isName = piece !== '' && piece !== '*' && !piece.includes(':');
    name = isName ? address : '';
    if (!isName && address !== '') addresses.push(address);
  }
  return name === '' ? addresses : [...addresses, name];
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

function firstBracketed(text: string, from: number): RegExpExecArray | null {
  BRACKETED.lastIndex = from;
  return BRACKETED.exec(text);
}

/** The URI is the last word before the first semicolon. */
function splitBare(text: string, nameEnd: number): AddressParts {
  const semicolon = text.indexOf(';', nameEnd);
  const address = (semicolon < 0 ? text : text.slice(0, semicolon)).trimEnd();
  const uri = address.split(/\s+/).at(-1) ?? '';
  if (uri === '' || /["<>,?]/.test(uri))
    throw new SipParseError('header_value', 'an address lacks its brackets');
  const displayName = address.slice(0, -uri.length).trim();
  return { displayName, uri, params: semicolon < 0 ? '' : text.slice(semicolon) };
}
