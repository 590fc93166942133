import type { CallLimits } from '../../agents/accounts/callLimits.ts';
import type { Destinations } from '../../agents/pathway/review/review.ts';
import { readSipHost, sipHost, type TransferTarget } from '../../agents/transferTarget.ts';
import { parseCarrierNumber } from '../../base/values/e164.ts';
import type { TrunkHost } from '../trunks/trunkSelection.ts';
import { isAtHost } from '../trunks/trunkSelection.ts';
import { areOfOneCountry, countryOrCode, isSpecialRate } from './numberTypes.ts';

/** Digits of the shortest public number; fewer are an extension. @see normalizeNumber */
const MIN_PUBLIC_DIGITS = 7;
/** `sip:user;parameters:password@host`; only the user names the destination. @see RFC 3261 section 19.1.1 */
const SIP_USER = /^sips?:([^;:@?]*)[^@]*@/i;

export type DestinationRules = Pick<
  CallLimits,
  'allowedPrefixes' | 'blockedPrefixes' | 'ownCountriesOnly' | 'blockSpecialRates'
>;

/** Digits of an allowed prefix that opens premium numbers: fewer are a whole country. */
const MIN_OPENING_DIGITS = 4;

/**
 * Returns the reason for which a project may not call a destination, or transfer a call to it.
 *
 * The longest matching prefix decides; if an allowed and a blocked one are equal, the blocked one. A destination without
 * a matching prefix is allowed unless `allowedPrefixes` has entries. Then the rules by the number's type and country
 * apply.
 *
 * @param to - A normalized number, or a SIP URI with a number in it. Any rule at all refuses what seems to be a public
 *   number but cannot be read. A name or an extension matches no prefix and has no country.
 * @param ownNumbers - The project's numbers.
 * @returns The limit that refuses it, as text; undefined when it is allowed.
 */
export function destinationRefusal(
  rules: DestinationRules,
  to: string,
  ownNumbers: readonly string[],
): string | undefined {
  const { allowedPrefixes, blockedPrefixes, ownCountriesOnly, blockSpecialRates } = rules;
  const hasPrefixes = allowedPrefixes.length > 0 || blockedPrefixes.length > 0;
  if (!hasPrefixes && !ownCountriesOnly && !blockSpecialRates) return undefined;
  const number = parseDestination(to);
  if (number === undefined && digitsIn(userOf(to) ?? '') >= MIN_PUBLIC_DIGITS)
    return 'it cannot be read as a number, to which the limits apply';
  const byPrefix = prefixRefusal(rules, number);
  if (byPrefix !== undefined || number === undefined) return byPrefix;
  const isOpened = allowedPrefixes.some(
    (prefix) => digitsIn(prefix) >= MIN_OPENING_DIGITS && number.startsWith(prefix),
  );
  if (blockSpecialRates && !isOpened && isSpecialRate(number))
    return 'blockSpecialRates refuses premium-rate, shared-cost and satellite numbers';
  if (!ownCountriesOnly || allowedPrefixes.length > 0) return undefined;
  if (ownNumbers.some((own) => areOfOneCountry(own, number))) return undefined;
  const countries = [...new Set(ownNumbers.map(countryOrCode))].join(', ') || 'none';
  return `ownCountriesOnly allows its own countries (${countries})`;
}

/**
 * Returns the reason for which a transfer to this target would fail, if it is known before a call. @param target - The
 * normalized target.
 */
export function transferRefusal(
  { limits, ownNumbers, trunks }: Destinations,
  { to, trunkId }: TransferTarget,
): string | undefined {
  if (trunkId !== undefined && !trunks.some(({ id }) => id === trunkId))
    return `it has no active trunk ${trunkId}`;
  return destinationRefusal(limits, to, ownNumbers) ?? domainRefusal(limits, to, trunks);
}

/**
 * Returns the reason for which a project may not call the host of a `sip:` URI.
 *
 * @param trunks - The project's active ones, whose hosts it may call.
 * @returns Undefined for a number, and for a host that is allowed.
 */
export function domainRefusal(
  { allowedSipDomains }: { readonly allowedSipDomains: readonly string[] },
  to: string,
  trunks: readonly TrunkHost[],
): string | undefined {
  if (!isSipUri(to)) return undefined;
  const uri = readSipHost(to);
  if (!uri) return 'its host is neither a name nor an address';
  if (trunks.some((trunk) => isAtHost(trunk, uri))) return undefined;
  return allowedSipDomains.some((domain) => sipHost(domain) === uri.host)
    ? undefined
    : `allowedSipDomains does not have ${uri.host}, and none of its trunks is there`;
}

export const isSipUri = (to: string): boolean => /^sips?:/i.test(to);

function prefixRefusal(
  { allowedPrefixes, blockedPrefixes }: DestinationRules,
  number?: string,
): string | undefined {
  const longestMatch = (prefixes: readonly string[]) =>
    prefixes
      .filter((prefix) => number?.startsWith(prefix))
      .sort((one, other) => other.length - one.length)[0];
  const [allowed, blocked] = [longestMatch(allowedPrefixes), longestMatch(blockedPrefixes)];
  if (blocked !== undefined && blocked.length >= (allowed?.length ?? 0))
    return `blockedPrefixes has ${blocked}`;
  return allowed === undefined && allowedPrefixes.length > 0
    ? 'allowedPrefixes has no prefix of it'
    : undefined;
}

/** @param to - A number, or a SIP URI. @returns The normalized number; undefined when there is none. */
export function parseDestination(to: string): string | undefined {
  const user = userOf(to);
  return user === undefined ? undefined : parseCarrierNumber(user);
}

/** The number itself, or the user part of a SIP URI, if it has one. */
function userOf(to: string): string | undefined {
  if (!isSipUri(to)) return to.replace(/^tel:/i, '').replace(/;.*$/, '');
  const user = SIP_USER.exec(to)?.[1];
  if (user === undefined) return undefined;
  try {
    return decodeURIComponent(user);
  } catch {
    // An invalid escape stands for itself.
    return user;
  }
}

const digitsIn = (text: string): number => text.replace(/\D/g, '').length;
