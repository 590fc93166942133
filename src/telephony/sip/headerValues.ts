import { SipParseError } from '../../../sip/message/errors.ts';
import { type NameAddr, parseNameAddr } from '../../../sip/message/fields/nameAddr.ts';
import { parseUri, type SipUri, type TelUri } from '../../../sip/message/fields/uri.ts';
import type { SipHeaders } from '../../../sip/message/headers.ts';
import { parseCarrierNumber } from '../../base/values/e164.ts';

/** Parses the value of From, To, Contact, Refer-To and the like. @returns Undefined when there is no valid URI. */
export function readAddress(value: string): NameAddr | undefined {
  return unlessMalformed(() => parseNameAddr(value));
}

/** The valid addresses of a header that may list several. */
export function addressesOf(headers: SipHeaders, name: string): NameAddr[] {
  const values = unlessMalformed(() => headers.addresses(name)) ?? [];
  return values.flatMap((value) => readAddress(value) ?? []);
}

/** The tokens of a list header such as Require or Allow. */
export function tokensOf(headers: SipHeaders, name: string): string[] {
  const values = headers.all(name).flatMap((value) => value.split(','));
  return values.map((value) => value.trim()).filter((value) => value !== '');
}

/** @returns Undefined for a malformed URI, and for schemes other than `sip`, `sips` and `tel`. */
export function readUri(text: string): SipUri | TelUri | undefined {
  const uri = unlessMalformed(() => parseUri(text));
  return uri?.scheme === 'other' ? undefined : uri;
}

/**
 * The user part of a `sip:` or `sips:` URI, percent-decoded and without its parameters, or the number of a `tel:` URI
 * without visual separators.
 *
 * @returns The user part; '' when there is none.
 */
export function userOf(text: string): string {
  const uri = readUri(text);
  if (uri?.scheme === 'tel') return uri.number.replace(/[-.()]/g, '');
  const [user = ''] = (uri?.user ?? '').split(';');
  return decoded(user);
}

/**
 * The public number that a URI names. A local number is completed by its `phone-context`, where that is the beginning of
 * a global number; the national prefix 0 is dropped.
 *
 * @returns Normalized; undefined when there is none.
 * @see RFC 3966 section 5.1.5, RFC 3261 section 19.1.6
 */
export function numberOf(text: string): string | undefined {
  const user = userOf(text);
  const [, context = ''] = /;phone-context=((?:\+|%2B)[\d.()-]+)/i.exec(text) ?? [];
  const local = user.replace(/^0/, '');
  const isCompleted = context !== '' && /^\d/.test(user);
  return (isCompleted ? parseCarrierNumber(decoded(context) + local) : undefined) ?? parseCarrierNumber(user);
}

/** Percent-encodes a user part. @see RFC 3261 section 25.1 (user) */
export function encodeUser(user: string): string {
  return encodeURIComponent(user).replace(/%(?:21|24|26|27|28|29|2A|2B|2C|2F|3D)/g, decodeURIComponent);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Percent-encoded bytes that are not UTF-8.
    return text;
  }
}

function unlessMalformed<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SipParseError) return undefined;
    throw error;
  }
}
