import { type NumberType, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** Satellite networks, and codes without a country that bill by the call. @see ITU-T E.164 annex D */
const SPECIAL_CODES: ReadonlySet<string> = new Set(['808', '870', '881', '882', '883', '979']);
const SPECIAL_TYPES: ReadonlySet<NumberType> = new Set<NumberType>(['PREMIUM_RATE', 'SHARED_COST']);
/** The shortest public number with its plus sign. */
const MIN_LENGTH = 8;

/** Returns true for premium-rate, shared-cost and satellite numbers. @param number - The normalized number. */
export function isSpecialRate(number: string): boolean {
  if (SPECIAL_CODES.has(parsePhoneNumberFromString(number)?.countryCallingCode ?? '')) return true;
  // Networks ignore digits after a complete number.
  for (let length = number.length; length >= MIN_LENGTH; length -= 1) {
    const type = parsePhoneNumberFromString(number.slice(0, length))?.getType();
    if (type !== undefined) return SPECIAL_TYPES.has(type);
  }
  return false;
}

/** Returns true when two normalized numbers are of one country. Countries may share a calling code. */
export function areOfOneCountry(one: string, other: string): boolean {
  const [first, second] = [parsePhoneNumberFromString(one), parsePhoneNumberFromString(other)];
  if (!first || first.countryCallingCode !== second?.countryCallingCode) return false;
  return !first.country || !second.country || first.country === second.country;
}

/** Returns the country, such as `DE`; the calling code of a number without one. @param number - The normalized number. */
export function countryOrCode(number: string): string {
  const parsed = parsePhoneNumberFromString(number);
  return parsed?.country ?? `+${parsed?.countryCallingCode ?? ''}`;
}
