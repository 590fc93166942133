import { type CountryCode, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/min';

import { normalizeNumber } from '../base/values/e164.ts';

/** @see RFC 3966 section 3 */
const TEL_SCHEME = /^tel:/i;
const INTERNATIONAL_PREFIX = /^00(?=[1-9])/;
const SEPARATORS = /[\s().\-/]/g;

/**
 * Returns a reader of numbers as lists have them: in E.164 with any separators, with `00` or a country's own prefix for
 * international calls, as dialed within the country, or with its calling code but without the plus sign, which spreadsheets
 * lose. It reads no number that a phone cannot reach, such as one with an extension.
 *
 * @param fromNumber - The number that calls, in E.164, whose country national numbers are of; undefined reads none.
 */
export function listNumberReader(fromNumber: string | undefined): (text: string) => string | undefined {
  const home = fromNumber === undefined ? undefined : parsePhoneNumberFromString(fromNumber);
  return (text) => {
    const given = text.trim().replace(TEL_SCHEME, '').replace(INTERNATIONAL_PREFIX, '+');
    const digits = given.replace(SEPARATORS, '');
    const strict = home && !digits.startsWith('+') ? undefined : normalizeNumber(digits);
    if (strict !== undefined || !home) return strict;
    const isWithCode = /^\d+$/.test(digits) && digits.startsWith(home.countryCallingCode);
    const withCode = isWithCode ? parsed(`+${digits}`) : undefined;
    if (withCode?.isValid()) return withCode.number;
    const number = parsed(given, home.country);
    return number?.isValid() && !number.ext ? number.number : undefined;
  };
}

function parsed(text: string, defaultCountry?: CountryCode): PhoneNumber | undefined {
  return parsePhoneNumberFromString(text, { ...(defaultCountry && { defaultCountry }), extract: false });
}
